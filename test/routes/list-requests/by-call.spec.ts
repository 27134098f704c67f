import type { Ending } from '#persistence';
import { describe, expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';
const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"ok":true}'),
};

const callIdOf = ({ headers }: { headers: Headers }) => headers.get('x-service-request-id') ?? '';

/** Submits a run and joins it. Returns the ids of the run, of the call that admitted it and of the one that joined. */
async function joinedRun(caller: Caller) {
  const submit = () =>
    caller.call('POST', path, { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'k' } });
  const [admitting, joining] = [await submit(), await submit()];
  return { runId: String(admitting.json()['request_id']), callIds: [callIdOf(admitting), callIdOf(joining)] };
}

const listed = async (caller: Caller, route: string, query: string) => {
  const answer = await caller.call('GET', `${route}?${query}`);
  expect(answer.status).toBe(200);
  return (answer.json()['data'] as { request_id: string }[]).map(({ request_id }) => request_id);
};

describe.each(['waiting', 'ended', 'aged out'])('a run that is %s', (state) => {
  it('is found by its id, and by the id of any call that admitted or joined it', async () => {
    const { caller } = await gateway().caller({}, ['run', 'requests']);
    const { runId, callIds } = await joinedRun(caller);
    const run = { requestId: runId, model: 'bfl/flux-2-pro', body: '' };
    if (state !== 'waiting')
      await gateway().finish(run, succeeded, state === 'ended' ? {} : { ago: '25 hours' });
    const { caller: operator } = await gateway().caller({}, ['operate']);
    for (const id of [runId, ...callIds]) {
      expect(await listed(caller, '/v2/requests', `request_id=${id}`)).toEqual([runId]);
      expect(await listed(operator, '/v2/operator/runs', `request_id=${id}`)).toEqual([runId]);
      const detail = await caller.call('GET', `/v2/requests/${id}`);
      expect([detail.status, detail.json()['request_id']]).toEqual([200, runId]);
      expect(detail.headers.get('x-service-run-id')).toBe(runId);
      const input = await caller.call('GET', `/v2/requests/${id}/input`);
      expect([input.status, input.headers.get('x-service-run-id')]).toEqual([
        state === 'aged out' ? 410 : 200,
        runId,
      ]);
    }
  });
});

it('the other filters still apply', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const { callIds } = await joinedRun(caller);
  for (const id of callIds)
    expect(await listed(caller, '/v2/requests', `request_id=${id}&status=COMPLETED`)).toEqual([]);
});

it('another workspace’s call finds nothing, as an unknown id does, and neither does a call without a run', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const { caller: stranger } = await gateway().caller({}, ['run', 'requests']);
  const { runId, callIds } = await joinedRun(caller);
  const other = await caller.call('GET', '/v2/requests');
  const unknown = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
  const missing = (await stranger.call('GET', `/v2/requests/${unknown}`)).bytes.toString();
  for (const id of [runId, ...callIds, callIdOf(other), unknown]) {
    expect(await listed(stranger, '/v2/requests', `request_id=${id}`)).toEqual([]);
    for (const route of [`/v2/requests/${id}`, `/v2/requests/${id}/input`]) {
      const answer = await stranger.call('GET', route);
      expect([answer.status, answer.headers.get('x-service-run-id')]).toEqual([404, null]);
      expect(answer.bytes.toString()).toBe(missing);
    }
  }
  const ownCall = callIdOf(other);
  expect(await listed(caller, '/v2/requests', `request_id=${ownCall}`)).toEqual([]);
});
