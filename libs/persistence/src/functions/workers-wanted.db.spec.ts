import { beforeEach, expect, it } from '@jest/globals';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';

const fixture = await openRunFixture();
const hourMs = 3_600_000;
/** One worker per submission and one per hundred polled runs, in hundredths of a worker. */
const wanted = async (by = fixture.first) =>
  (await by.sql<{ wanted: number }>('SELECT round(workers_wanted(1, 100) * 100)::integer AS wanted'))[0]
    ?.wanted ?? NaN;
/** Earlier tests leave runs behind. */
let before = 0;
beforeEach(async () => void (before = await wanted()));
const more = async (by = fixture.first) => (await wanted(by)) - before;

it('counts runs that wait for a worker, runs that a worker holds, and runs that are polled', async () => {
  await fixture.first.run(await fixture.space());
  await fixture.run('claimed');
  await fixture.run('submitting');
  for (let count = 0; count < 5; count += 1) await fixture.run('running');
  await fixture.run('copying');
  expect(await more()).toBe(305);
});

it('ignores parked runs, which no worker may start', async () => {
  const spaceId = await fixture.space({ inflightLimit: 1 });
  for (let count = 0; count < 4; count += 1) await fixture.first.run(spaceId);
  expect(await more()).toBe(100);
});

it('ignores runs that were postponed, unless they are due again', async () => {
  const { runId, epoch } = await fixture.run('submitting');
  await fixture.first.dispatch.postpone(runId, epoch, hourMs);
  expect(await more()).toBe(0);
  const later = await fixture.run('submitting');
  await fixture.first.dispatch.postpone(later.runId, later.epoch, 0);
  expect(await more()).toBe(100);
});

it('ignores submissions to a provider that an operator paused, before and after they are postponed', async () => {
  await fixture.first.run(await fixture.space(), { provider: 'paused' });
  await fixture.first.run(await fixture.space(), { provider: 'open' });
  await fixture.run('running', { provider: 'paused' });
  await fixture.first.pauses.pause('paused', 'maintenance', 'test');
  // Running generations are still polled.
  expect(await more()).toBe(101);
  await fixture.first.dispatch.sweep(10_000, leaseMs);
  expect(await more()).toBe(101);
  await fixture.first.pauses.resume('paused', 'test');
  expect(await more()).toBe(201);
});

it('ignores the kind of call for which a provider sent Retry-After, until the pause ends', async () => {
  await fixture.first.run(await fixture.space(), { provider: 'throttled' });
  await fixture.run('running', { provider: 'throttled' });
  await fixture.first.pauses.pauseFor('throttled', 'poll', hourMs, 'HTTP 429');
  expect(await more()).toBe(100);
  await fixture.first.pauses.pauseFor('throttled', 'submit', hourMs, 'HTTP 429');
  expect(await more()).toBe(0);
  expect(await more(fixture.at('2 hours'))).toBe(101);
});
