import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#errors';

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The key of the call; undefined without one. Anything but 1 to 255 visible ASCII characters: 400. */
export function idempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && visibleAscii.test(key)) return key;
  throw new RouterError('invalid_input', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

/** What makes two requests the same: method, path and query, then the bytes of the body as they are added. */
export class Fingerprint {
  private readonly hash = createHash('sha256');

  constructor(method: string, url: string) {
    this.hash.update(`${method} ${url}\n`);
  }

  add(chunk: Uint8Array): void {
    this.hash.update(chunk);
  }

  /** Hex; once. */
  digest(): string {
    return this.hash.digest('hex');
  }
}
