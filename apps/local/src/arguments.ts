const usage = `npm start: everything that model-router needs, on this machine, until Ctrl-C.

It takes no arguments. Settings are variables of the environment, among them:

  PORT                 port of the gateway; 8080 unless it is given
  LOCAL_DIR            folder of data, logs and credentials; .local unless it is given
  PROVIDER_<NAME>_KEY  key of a real provider, such as PROVIDER_BFL_KEY; without one it is simulated

docs/configuration.md has all of them.
`;

/** What is written, and the exit code; null without arguments, for a start. */
export function replyTo(given: readonly string[]): { code: 0 | 2; text: string } | null {
  const [first] = given;
  if (first === undefined) return null;
  if (given.length === 1 && (first === '--help' || first === '-h')) return { code: 0, text: usage };
  return { code: 2, text: 'model-router: npm start takes no arguments; see npm start -- --help\n' };
}
