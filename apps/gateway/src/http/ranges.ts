/**
 * The range that a Range header selects of `bytes` bytes, from `start` to `end`, both included. Null if it selects
 * none; undefined for all bytes, also for several ranges and for malformed ones, as RFC 9110 allows. `@fastify/send`
 * cannot serve this: it rejects malformed ranges, and a request for more last bytes than the file has.
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
