import { Readable } from 'node:stream';
import { Header } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** For a handler that returns JSON as text or bytes. */
export const asJson = Header('content-type', 'application/json; charset=utf-8');

/** Aborts when the caller's connection has closed, or when the answer has been sent. */
export function callerGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // Most answers end so: an error with its stack would be made for each of them.
  reply.raw.once('close', () => gone.abort('gone'));
  return gone.signal;
}

/**
 * Opens something for a caller: its signal aborts when the caller has gone, also after it was opened, or when opening
 * takes longer than `withinMs`.
 */
export async function openedFor<T>(
  reply: FastifyReply,
  withinMs: number,
  open: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const unwanted = new AbortController();
  reply.raw.once('close', () => unwanted.abort());
  const timer = setTimeout(() => unwanted.abort(), withinMs);
  try {
    return await open(unwanted.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What is sent to HEAD in place of a body that is not read. Without it the framework would say that its length is 0. */
export const noBody = (): Readable => Readable.from([]);

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
  if (header?.trim() === '*') return true;
  const given: string[] = header?.match(/"[^"]*"/g) ?? [];
  return given.includes(etag);
}

/** Puts the tag on the answer, which is 304 to a caller that has the same document; whether it was. */
export function sentUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag);
  const isUnchanged = noneMatchCovers(request.headers['if-none-match'], etag);
  if (isUnchanged) void reply.code(304).send(request.method === 'HEAD' ? noBody() : undefined);
  return isUnchanged;
}
