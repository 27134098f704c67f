/**
 * A path with broken percent-encoding names nothing, but it shall be answered like any other path that
 * names nothing, after the same checks. Its percent signs are taken literally, so that it can be routed.
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
