import { Readable } from 'node:stream';
import { Header } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** For a handler that returns JSON as text or bytes. */
export const asJson = Header('content-type', 'application/json; charset=utf-8');

/** Why a signal of `callerGone` aborted after the answer had begun. */
export const answerBegun = 'the answer had begun';

/**
 * Aborts when the caller's connection closes or the answer has been sent. The reason says whether the answer had begun.
 */
export function callerGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // Nearly every call ends this way: without a reason, each would create an error with a stack.
  reply.raw.once('close', () => gone.abort(reply.raw.headersSent ? answerBegun : 'gone'));
  return gone.signal;
}

/**
 * Opens something for a caller. Its signal aborts when the caller disconnects, even after it was opened, or when
 * opening takes longer than `withinMs`.
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

/** The body of an answer to HEAD. Without it the framework would send a Content-Length of 0. */
export const noBody = (): Readable => Readable.from([]);

/** The header of a conditional request, for the service document. */
export const ifNoneMatch = z.object({
  'If-None-Match': z.string().meta({
    description: 'The ETag of an earlier response, compared weakly; `*` matches any document.',
  }),
});

/**
 * Whether an If-None-Match header covers the tag. RFC 9110 requires weak comparison here, so a `W/` prefix on either
 * side is ignored; `*` covers every current document.
 */
export function noneMatchCovers(header: string | undefined, etag: string): boolean {
  if (header?.trim() === '*') return true;
  const given: string[] = header?.match(/"[^"]*"/g) ?? [];
  return given.includes(etag);
}

/** Sets the tag, and answers 304 to a caller that has the same document. Returns whether it did. */
export function sentUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag);
  const isUnchanged = noneMatchCovers(request.headers['if-none-match'], etag);
  if (isUnchanged) void reply.code(304).send(request.method === 'HEAD' ? noBody() : undefined);
  return isUnchanged;
}

/** The value of `Retry-After`, in whole seconds. */
export const retryAfter = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));
