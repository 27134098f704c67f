/** A shell command that runs a model and waits for its result, as shown, and with the credential in full. */
export function firstRun(origin: string, credential: string): { shown: string; full: string } {
  // Only keys may come in this header. Access tokens, and keys too, may come as a bearer.
  const header = credential.startsWith('rk_') ? 'X-API-Key: ' : 'Authorization: Bearer ';
  const written = (secret: string) =>
    [
      `curl '${origin}/v2/models/bfl/flux-2-pro'`,
      `-H '${header}${secret}' -H 'Content-Type: application/json'`,
      `-d '{"prompt":"a red fox in the snow"}'`,
    ].join(' \\\n  ');
  return { shown: written(`${credential.slice(0, 12)}…`), full: written(credential) };
}
