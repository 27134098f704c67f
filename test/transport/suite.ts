import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { transports } from '../harness/index.js';
import { Bench } from './bench.js';
import { deliveryCases } from './delivery-cases.js';
import { leavingCases } from './leaving-cases.js';
import { outageCases } from './outage-cases.js';
import { partitionCases } from './partition-cases.js';
import { type Kind, startServer } from './servers.js';
import { signalCases } from './signal-cases.js';

/** What every transport promises, checked on a real server of the kind. */
export function transportSuite(kind: Kind): void {
  // Where there is no Redis, only the database's side runs; CI refuses to start without one.
  const perhaps = transports().includes(kind) ? describe : describe.skip;
  perhaps(`transport on ${kind}`, () => {
    let bench: Bench;

    beforeAll(async () => {
      bench = new Bench(kind, await startServer(kind));
    });
    afterEach(async () => {
      await bench.clear();
      await bench.server.wipe();
      bench.log.lines.length = 0;
    });
    afterAll(() => bench.server.stop());

    describe('delivery', () => {
      deliveryCases(() => bench);
    });
    describe('signals', () => {
      signalCases(() => bench);
    });
    describe('leaving', () => {
      leavingCases(() => bench);
    });
    describe('partitions', () => {
      partitionCases(() => bench);
    });
    describe('outages', () => {
      outageCases(() => bench);
    });
  });
}
