import { describe } from '@jest/globals';
import { createDatabase, startRedis, type TransportKind, transports } from '../harness/index.js';
import { benchOn } from './bench.js';
import { deliveryCases } from './delivery-cases.js';
import { signalCases } from './signal-cases.js';
import { streamCases } from './stream-cases.js';
import { wakeUpCases } from './wake-up-cases.js';

/** A Redis for this file only, or a database on the run's server. */
export async function startServer(kind: TransportKind): Promise<{ url: string; stop(): Promise<void> }> {
  if (kind === 'redis') return startRedis({ durable: false });
  const database = await createDatabase();
  return { url: database.url, stop: () => database.drop() };
}

/**
 * The guarantees of every transport while its server is up, checked on a real server. Guarantees about servers
 * and processes that go down are in the fault tests.
 */
export function transportSuite(kind: TransportKind): void {
  // Without Redis only the database's side runs; CI refuses to start without Redis.
  const perhaps = transports().includes(kind) ? describe : describe.skip;
  perhaps(`transport on ${kind}`, () => {
    const { bench } = benchOn(kind, startServer);
    describe('delivery', () => {
      deliveryCases(bench);
    });
    describe('signals', () => {
      signalCases(bench);
    });
    describe('event streams', () => {
      streamCases(bench);
    });
    describe('wake-ups', () => {
      wakeUpCases(bench);
    });
  });
}
