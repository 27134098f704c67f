/**
 * The bytes from `start` to `end`, both included, that a Range header requests of so many; null when it selects none.
 * Undefined stands for all bytes: the answer also to several ranges and to malformed ones, as RFC 9110 allows.
 * `@fastify/send` cannot serve this: it refuses malformed ranges, and the last bytes of a file that is shorter than those.
 */
export function requestedRange(
  header: string | undefined,
  bytes: number,
): { start: number; end: number } | null | undefined {
  const [, first, last] = /^bytes=(?=.*\d)(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined) return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(bytes - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  return start < bytes ? { start, end } : null;
}
