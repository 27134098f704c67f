import type { Hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { fingerprintOfPath } from '../runs/run-input.js';

/**
 * Begins the hash of a call, to which its body is added. The clients repeat a call by themselves if its connection
 * breaks, mostly without an Idempotency-Key; then only a call with the same credential counts as equal.
 */
export function callFingerprint(request: FastifyRequest, { credential }: Caller, key?: string): Hash {
  const hash = fingerprintOfPath(request.originalUrl, request.headers);
  return key === undefined ? hash.update(`${credential}\n`) : hash;
}
