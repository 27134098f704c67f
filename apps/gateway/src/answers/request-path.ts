/**
 * The path of a request as the router matches it. A request line may contain the whole URL, and may
 * percent-encode any letter. A path that cannot be decoded is returned unchanged.
 */
export function requestPath(url: string): string {
  const [path = ''] = (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')).split('?', 1);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** The path of a route with its parameters in braces. A parameter may have a pattern, and `::` is a colon. */
export const pathTemplate = (url: string): string =>
  url.replaceAll(/(?<!:):(\w+)(?:\(.+?\))?/g, '{$1}').replaceAll('::', ':');
