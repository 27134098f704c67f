const parse = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/**
 * Whether a URL out of a partner's reply may be called at all: https, or plain http where the base itself is
 * plain http, and no user name in it. Whether it may carry our key is asked separately, at the call.
 */
export function isCallableUrl(text: string, base: string): boolean {
  const url = parse(text);
  if (url === undefined || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && parse(base)?.protocol === 'http:');
}

/** A pattern that matches the origin of `url` and nothing else. */
export function exactOrigin(url: string): RegExp {
  return new RegExp(`^${new URL(url).origin.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`);
}
