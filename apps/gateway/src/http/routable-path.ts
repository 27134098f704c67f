/**
 * A path with broken percent-encoding matches no route, but it must be answered like every other path without a
 * route, after the same checks. Its percent signs are taken literally, so that it can be routed.
 */
export function routablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
