import type { IncomingHttpHeaders } from 'node:http';

const json = /^application\/json *(;|$)/i;

/** Whether the headers announce plain JSON; a compressed body is something else. */
export function announcesJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  return json.test(headers['content-type'] ?? '') && encoding.toLowerCase() === 'identity';
}
