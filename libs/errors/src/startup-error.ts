/** A failure to start that the operator must fix. Its message is complete, so no stack trace is shown. */
export class StartupError extends Error {}
