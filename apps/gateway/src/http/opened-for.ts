import type { FastifyReply } from 'fastify';

/**
 * Opens something for a caller: its signal ends when the caller has gone, also after it was opened, or when opening
 * takes longer than `withinMs`.
 */
export async function openedFor<T>(
  reply: FastifyReply,
  withinMs: number,
  open: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const unwanted = new AbortController();
  reply.raw.once('close', () => unwanted.abort());
  const late = setTimeout(() => unwanted.abort(), withinMs);
  try {
    return await open(unwanted.signal);
  } finally {
    clearTimeout(late);
  }
}
