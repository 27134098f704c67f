import { expect, it } from '@jest/globals';
import { openEvents } from '../../harness/events.js';
import type { Caller, Submitted } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const small = sharedGateway('small');

const succeeded = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') } as const;
const pathOf = ({ model, requestId }: Submitted) => `/v2/models/${model}/requests/${requestId}/status/stream`;
const open = (base: string, caller: Caller, run: Submitted) =>
  openEvents(base + pathOf(run), { 'x-api-key': caller.key });

it('sends the status at once, after each change, and at the end, and then ends', async () => {
  const { caller } = await gateway().caller({ inflightLimit: 1 });
  const ahead = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const stream = await open(gateway().url, caller, run);
  expect(stream.response.status).toBe(200);
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(stream.response.headers.get('cache-control')).toBe('no-cache, no-transform');
  const told = (count: number) =>
    waitFor(() => stream.events.length >= count, { withinMs: 20_000, what: `${count} events` });
  await told(1);
  const first = stream.events[0]?.data;
  expect(first).toEqual((await caller.status(run)).json());
  await gateway().finish(ahead, succeeded);
  await told(2);
  const claimed = await gateway().dispatch(run);
  await told(3);
  await gateway().end(claimed, succeeded);
  expect(await stream.ended).toBe(true);
  expect(stream.events.map(({ event, data }) => [event, data['status'], data['queue_position']])).toEqual([
    ['message', 'IN_QUEUE', 1],
    ['message', 'IN_QUEUE', 0],
    ['message', 'IN_PROGRESS', undefined],
    ['message', 'COMPLETED', undefined],
  ]);
  expect(stream.events.at(-1)?.data).toEqual((await caller.status(run)).json());
  expect(stream.retryMs).toBeGreaterThanOrEqual(500);
});

it('sends the outcome of a completed run, failures included, and ends', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await caller.cancel(run);
  const stream = await open(gateway().url, caller, run);
  expect(await stream.ended).toBe(true);
  expect(stream.events).toEqual([{ event: 'message', data: (await caller.status(run)).json() }]);
  expect(stream.events[0]?.data).toMatchObject({ error_type: 'client_disconnected' });
});

it('ends at the deadline of synchronous calls without COMPLETED', async () => {
  const { caller } = await small().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const stream = await open(small().url, caller, run);
  expect(await stream.ended).toBe(true);
  expect(stream.events.map(({ data }) => data['status'])).toEqual(['IN_QUEUE']);
});

it('is closed when its client leaves, and open to any number of clients', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const streams = await Promise.all(Array.from({ length: 5 }, () => open(gateway().url, caller, run)));
  const [first, ...others] = streams;
  first?.close();
  await gateway().finish(run, succeeded);
  expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([true, true, true, true]);
  for (const { events } of others) expect(events.at(-1)?.data['status']).toBe('COMPLETED');
  const text = async () => (await fetch(`${gateway().internalUrl}/metrics`)).text();
  await waitFor(async () => /^router_status_streams 0$/m.test(await text()), {
    withinMs: 60_000,
    what: 'no stream',
  });
});
