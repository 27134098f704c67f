import type { Readable } from 'node:stream';

/** Leaves a body unread. What its connection says about that is nobody's business, and must not end the process. */
export function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}
