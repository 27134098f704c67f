import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { createDatabase, startRedis, type TransportKind, transports } from '../harness/index.js';
import { Bench } from './bench.js';
import { deliveryCases } from './delivery-cases.js';
import { signalCases } from './signal-cases.js';
import { wakeUpCases } from './wake-up-cases.js';

/** A Redis of this file's own, or a database on the server of the run. */
export async function startServer(kind: TransportKind): Promise<{ url: string; stop(): Promise<void> }> {
  if (kind === 'redis') return startRedis({ durable: false });
  const database = await createDatabase();
  return { url: database.url, stop: () => database.drop() };
}

/**
 * What every transport promises while its server is there, checked on a real server of the kind. What it promises when the
 * server or a process goes away is for the fault tests.
 */
export function transportSuite(kind: TransportKind): void {
  // Where there is no Redis, only the database's side runs; CI refuses to start without one.
  const perhaps = transports().includes(kind) ? describe : describe.skip;
  perhaps(`transport on ${kind}`, () => {
    let server: Awaited<ReturnType<typeof startServer>>;
    let bench: Bench;

    beforeAll(async () => {
      server = await startServer(kind);
      bench = new Bench(kind, server.url);
    });
    afterEach(async () => {
      await bench.clear();
      await bench.wipe();
      bench.log.lines.length = 0;
    });
    afterAll(() => server.stop());

    describe('delivery', () => {
      deliveryCases(() => bench);
    });
    describe('signals', () => {
      signalCases(() => bench);
    });
    describe('wake-ups', () => {
      wakeUpCases(() => bench);
    });
  });
}
