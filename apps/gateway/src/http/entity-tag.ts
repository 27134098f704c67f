import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { noBody } from './replies.js';

/** The header of a conditional request, for the service document. */
export const ifNoneMatch = z.object({
  'If-None-Match': z.string().meta({
    description: 'An ETag of an earlier answer, compared weakly; `*` matches any document.',
  }),
});

/**
 * Whether an If-None-Match header covers the tag: weak comparison, as RFC 9110 has it for this header, so a
 * `W/` mark on either side is ignored; `*` covers every current document.
 */
export function noneMatchCovers(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag) return true;
  if (header.trim() === '*') return true;
  const given: string[] = header.match(/"[^"]*"/g) ?? [];
  return given.includes(etag);
}

/** Puts the tag on the answer, which is 304 to a caller that has the same document; whether it was. */
export function sentUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag);
  const isUnchanged = noneMatchCovers(request.headers['if-none-match'], etag);
  if (isUnchanged) void reply.code(304).send(request.method === 'HEAD' ? noBody() : undefined);
  return isUnchanged;
}
