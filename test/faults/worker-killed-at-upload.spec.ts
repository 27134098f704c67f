import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports } from '../harness/index.js';
import { death, quickLeases } from './worker-faults.js';

let system: System;
beforeAll(async () => {
  system = await System.start({ transport: transports()[0] ?? 'postgres', workers: 0, env: quickLeases });
});
afterAll(() => system.stop());

const image = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`;

// An upload costs nothing and starts nothing, so no outcome is unknown and the next worker starts again.
it('a run whose worker dies between upload and submission is uploaded again, and submitted once', async () => {
  const caller = await system.caller();
  const doomed = await system.startWorker({ FAILPOINT: 'dispatch.afterUpload:kill' });
  const input = { prompt: '[[sim:tag=upload]]', duration: 5, quality: '720p', img_id: image };
  const run = await caller.submit('pixverse/v5-image-to-video', JSON.stringify(input));
  await death(system, doomed);
  expect(await system.provider.ledger('upload')).toEqual([]);
  await system.startWorker();
  const status = await caller.completed(run, 90_000);
  expect([status['error_type'], (await caller.collect(run)).status]).toEqual([undefined, 200]);
  expect((await system.provider.ledger('upload')).length).toBe(1);
  await holdToInvariants(system);
});

failOnLeftovers();
