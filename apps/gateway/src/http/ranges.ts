/** The bytes from `start` to `end`, both included. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * The range that a Range header asks of so many bytes; null when there are none of it. Undefined stands for all
 * bytes: the answer also to several ranges and to what is no range, as RFC 9110 allows.
 */
export function requestedRange(header: string | undefined, bytes: number): ByteRange | null | undefined {
  const [, first, last] = /^bytes=(?=.*\d)(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined) return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(bytes - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  return start < bytes ? { start, end } : null;
}
