import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type App, residentBytes, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  openEvents,
  type Submitted,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';
import { metric } from './metrics.js';

const streamCount = 2_000;
const mebibyte = 1024 * 1024;

let system: System;
beforeAll(async () => {
  system = await System.start({
    transport: transports()[0] ?? 'postgres',
    workers: 0,
    gateways: 2,
    env: { PROVIDER_POLL_PAUSE_MS: '300' },
  });
});
afterEach(async () => {
  for (const worker of system.workers) await worker.stop();
});
afterAll(() => system.stop());

const open = (gateway: App, caller: TestCaller, { model, requestId }: Submitted) =>
  openEvents(`${gateway.url}/v2/models/${model}/requests/${requestId}/status/stream`, {
    'x-api-key': caller.key,
  });

async function submitAll(caller: TestCaller, count: number): Promise<Submitted[]> {
  const runs: Submitted[] = [];
  while (runs.length < count) {
    const batch = Array.from({ length: Math.min(50, count - runs.length) }, () =>
      caller.submit('bfl/flux-2-pro', '{"prompt":"streamed"}'),
    );
    runs.push(...(await Promise.all(batch)));
  }
  return runs;
}

/** The durations of status calls made in sequence, in milliseconds. */
async function statusMs(caller: TestCaller, run: Submitted, gateway: number): Promise<number[]> {
  const took: number[] = [];
  for (let nth = 0; nth < 200; nth += 1) {
    const startedAt = performance.now();
    await caller.call('GET', `/v2/models/${run.model}/requests/${run.requestId}/status`, { gateway });
    took.push(performance.now() - startedAt);
  }
  return took;
}

it(`${streamCount} streams of one gateway cost little memory, and each gets the end of its run`, async () => {
  const [gateway] = system.gateways as [App, App];
  const caller = await system.caller({ inflightLimit: 50, backlogLimit: streamCount, windowLimit: 100_000 });
  const runs = await submitAll(caller, streamCount);
  const [first] = runs as [Submitted];
  const before = await statusMs(caller, first, 0);
  const idle = residentBytes(gateway);
  const openedAt = performance.now();
  const streams: Awaited<ReturnType<typeof open>>[] = [];
  for (let at = 0; at < runs.length; at += 100)
    streams.push(...(await Promise.all(runs.slice(at, at + 100).map((run) => open(gateway, caller, run)))));
  expect(streams.filter(({ response }) => response.status !== 200)).toEqual([]);
  await waitFor(() => streams.every(({ events }) => events.length > 0), {
    withinMs: 60_000,
    what: 'a first event on each stream',
  });
  const openMs = performance.now() - openedAt;
  expect(await metric(gateway, 'router_status_streams')).toBe(streamCount);
  const after = await statusMs(caller, first, 0);
  const rise = residentBytes(gateway) - idle;

  const told = streams.map(async ({ ended }, index) => {
    const isClean = await ended;
    return { id: runs[index]?.requestId ?? '', isClean, atMs: Date.now() };
  });
  await system.startWorker();
  const ended = await Promise.all(told);
  const completed = new Map(
    (
      await system.sql<{ id: string; atMs: number }>(
        `SELECT id, extract(epoch FROM completed_at)::float * 1000 AS "atMs" FROM run WHERE workspace_id = $1`,
        [caller.workspaceId],
      )
    ).map(({ id, atMs }) => [id, atMs]),
  );
  const lateMs = ended.map(({ id, atMs }) => atMs - (completed.get(id) ?? 0));
  for (const [index, stream] of streams.entries())
    expect([stream.events.at(-1)?.data['status'], ended[index]?.isClean]).toEqual(['COMPLETED', true]);
  const perStream = streams.reduce((sum, { events }) => sum + events.length, 0) / streamCount;
  process.stderr.write(
    [
      `${streamCount} streams: open after ${Math.round(openMs)} ms, +${Math.round(rise / mebibyte)} MiB (${Math.round(rise / streamCount / 1024)} KiB each)`,
      `status calls p50/p99 ${share(before, 0.5)}/${share(before, 0.99)} ms before, ${share(after, 0.5)}/${share(after, 0.99)} ms beside them`,
      `completion to event p50/p99/max ${share(lateMs, 0.5)}/${share(lateMs, 0.99)}/${share(lateMs, 1)} ms, ${perStream.toFixed(1)} events a stream\n`,
    ].join('; '),
  );
  expect(rise).toBeLessThan(streamCount * 64 * 1024);
  expect(share(lateMs, 0.99)).toBeLessThan(10_000);
  expect(await metric(gateway, 'router_status_streams')).toBe(0);
});

it('a stopping gateway ends its streams cleanly, and their clients continue at another gateway', async () => {
  const [stopping, other] = system.gateways as [App, App];
  const caller = await system.caller();
  const runs = await submitAll(caller, 50);
  const streams = await Promise.all(runs.map((run) => open(stopping, caller, run)));
  await waitFor(() => streams.every(({ events }) => events.length > 0), {
    withinMs: 60_000,
    what: 'the streams',
  });
  system.forget(stopping);
  expect(await stopping.stop()).toBe(0);
  expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(streams.map(() => true));
  for (const { events, retryMs } of streams) {
    expect(events.at(-1)?.data['status']).toBe('IN_QUEUE');
    expect(retryMs).toBeGreaterThan(0);
  }
  const again = await Promise.all(runs.map((run) => open(other, caller, run)));
  await system.startWorker();
  await Promise.all(again.map(({ ended }) => ended));
  for (const { events } of again) expect(events.at(-1)?.data['status']).toBe('COMPLETED');
});

/** The quantile of the values, rounded. */
const share = (values: readonly number[], part: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0);

failOnLeftovers();
