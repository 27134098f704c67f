/** A reason not to start that the operator must fix; its message says everything, so no stack trace is shown. */
export class StartupError extends Error {}
