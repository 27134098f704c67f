import type { RunQueues } from '#queue';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';

export const boardSettings = {
  QUEUE_BOARD_PASSWORD: z.string().min(16, 'must have at least 16 characters').optional().meta({
    description:
      'Password of the user `operator` on the queue board, at /queues of a worker’s internal listener. If unset, or without Redis, there is no board.',
    example: 'replace-me-with-16-characters-or-more',
  }),
  QUEUE_BOARD_WRITABLE: z.stringbool().default(false).meta({
    description: 'Whether the queue board may change jobs.',
    example: 'false',
  }),
};

type BoardSettings = z.infer<z.ZodObject<typeof boardSettings>>;
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The board's path on the internal listener. */
export const boardPath = '/queues';

/**
 * Creates the board of the queues, or returns undefined without a password or without Redis. Bull Board is loaded
 * only then, because it takes a tenth of a worker's start.
 */
export async function createBoard(
  queues: Pick<RunQueues, 'all'>,
  { QUEUE_BOARD_PASSWORD: password, QUEUE_BOARD_WRITABLE: writable }: BoardSettings,
): Promise<Handler | undefined> {
  if (password === undefined || queues.all.length === 0) return undefined;
  const { openBoard } = await import('./queue-board.js');
  return openBoard(queues, { path: boardPath, password, writable });
}
