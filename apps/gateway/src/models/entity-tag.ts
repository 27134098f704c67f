/**
 * Whether an If-None-Match header covers the tag: weak comparison, as RFC 9110 has it for this header, so a
 * `W/` mark on either side is ignored; `*` covers every current document.
 */
export function noneMatchCovers(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const given: string[] = header.match(/"[^"]*"/g) ?? [];
  return given.includes(etag);
}
