/** A shell command that submits a first run. Takes the key from a variable. */
export const exampleCommand = (query = ''): string =>
  [
    `curl -X POST '${location.origin}/v2/models/bfl/flux-2-pro/requests${query}'`,
    `-H "X-API-Key: $API_KEY" -H 'Content-Type: application/json'`,
    `-d '{"prompt":"a red fox in the snow"}'`,
  ].join(' \\\n  ');
