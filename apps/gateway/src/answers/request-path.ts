/**
 * The path of a request as the router matches it: a request line may hold the whole URL, and spell a letter as its code.
 * What cannot be decoded stays as it is.
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
