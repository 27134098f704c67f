import { Readable } from 'node:stream';
import { Header } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

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
