import { describe, expect, it } from '@jest/globals';
import { type Bucket, bucketNames, buckets } from '#errors';
import type { Answer, Caller } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { type RouteGateway, sharedGateway } from '../gateways.js';

const model = '/v2/models/bfl/flux-2-pro';
const body = '{"prompt":"x"}';
const seen = new Set<Bucket>();

const usual = sharedGateway();
const small = sharedGateway('small');

type Facts = Parameters<RouteGateway['caller']>[0];
const call = async (facts: Facts, path = model, sent = body) =>
  (await usual().caller(facts)).caller.call('POST', path, { body: sent });

/**
 * Expects the status, header and body of one bucket: the same bucket in header and body, and no other members.
 */
function expectBucket(answer: Answer, status: number, bucket: Bucket, detail: RegExp): void {
  expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([status, bucket]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.json()).toEqual({ detail: expect.stringMatching(detail), error_type: bucket });
  seen.add(bucket);
}

describe('a rejected call', () => {
  it('invalid_input: a body that is not a JSON object', async () => {
    expectBucket(await call({}, model, '[]'), 400, 'invalid_input', /object/i);
  });

  it('invalid_input: fields that the model does not accept, as 422 without error_type', async () => {
    const answer = await call({}, model, '{"prompt":1}');
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([422, 'invalid_input']);
    expect(answer.json()).toEqual({
      detail: [expect.objectContaining({ loc: ['body', 'prompt'], type: 'string_type', input: 1 })],
    });
  });

  it('insufficient_credits: the balance does not cover the call', async () => {
    expectBucket(await call({ balanceMicros: 1 }), 402, 'insufficient_credits', /credits/);
  });

  it('model_not_found: an unknown id', async () => {
    const answer = await call({}, '/v2/models/bfl/flux-2-prp');
    expectBucket(answer, 404, 'model_not_found', /Did you mean bfl\/flux-2-pro/);
  });

  it('unauthorized: no usable credential', async () => {
    const { caller } = await usual().caller();
    const answer = await caller.call('POST', model, { body, headers: { 'x-api-key': 'rk_live_none' } });
    expectBucket(answer, 401, 'unauthorized', /credential/);
  });

  it('forbidden: a model that the caller may see but not run', async () => {
    expectBucket(await call({ runnable: ['fal/*'] }), 403, 'forbidden', /not run/);
  });

  it('not_enabled: a workspace that the router is switched off for', async () => {
    expectBucket(await call({ enabled: false }), 403, 'not_enabled', /not enabled/);
  });

  it('concurrency_limit_exceeded: the limit of calls in flight is reached', async () => {
    const answer = await call({ inflightLimit: 0 });
    expectBucket(answer, 429, 'concurrency_limit_exceeded', /calls in flight/);
    expect(answer.headers.has('x-committed-spend-limit')).toBe(false);
  });

  it('rate_limited: the window is used up', async () => {
    expectBucket(await call({ windowLimit: 0 }), 429, 'rate_limited', /per minute/);
  });
});

describe('a run that does not succeed', () => {
  it.each([
    'content_policy_violation',
    'provider_error',
    'provider_timeout',
    'service_unavailable',
    'internal_error',
  ] as const)('%s: the synchronous call answers the recorded outcome', async (bucket) => {
    const { caller, workspace } = await usual().caller();
    const answering = caller.call('POST', model, { body });
    const run = await usual().admittedRun(workspace);
    const { status } = buckets[bucket];
    const detail = `Ended as ${bucket}.`;
    await usual().finish(run, { outcome: 'failed', bucket, status, detail, billable: false });
    const answer = await answering;
    expectBucket(answer, status, bucket, new RegExp(`^${detail}$`));
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('deadline_exceeded: the router’s own deadline', async () => {
    const { caller } = await small().caller();
    const answer = await caller.call('POST', model, { body, headers: { 'idempotency-key': 'late' } });
    expectBucket(answer, 504, 'deadline_exceeded', /same Idempotency-Key/);
  });

  it('client_disconnected: a cancelled run, on status and on collect', async () => {
    const { caller } = await usual().caller();
    const run = await caller.submit('bfl/flux-2-pro', body);
    expect((await caller.cancel(run)).status).toBe(202);
    expect((await caller.status(run)).json()).toMatchObject({
      status: 'COMPLETED',
      error_type: 'client_disconnected',
    });
    expectBucket(await caller.collect(run), 409, 'client_disconnected', /cancelled/);
  });

  it('client_disconnected: a caller that closed its connection, only in log and audit record', async () => {
    const { caller, workspace } = await usual().caller();
    const leaving = new AbortController();
    const gone = leave(caller, leaving.signal);
    const run = await usual().admittedRun(workspace);
    const claimed = await usual().dispatch(run);
    leaving.abort();
    await gone;
    const told = (line: string) =>
      line.includes('"status":499,"error_type":"client_disconnected"') && line.includes(workspace.id);
    await waitFor(() => usual().logs().split('\n').some(told), {
      withinMs: 60_000,
      what: 'the log line of the call',
    });
    // The line is written when the connection closes, and the run's row is updated after it.
    const noted = 'SELECT FROM run WHERE id = $1 AND caller_left_at IS NOT NULL';
    await waitFor(async () => (await usual().database.reads.query(noted, [run.requestId])).length === 1, {
      withinMs: 60_000,
      what: 'the note on the run',
    });
    const output = { mediaType: 'application/json', body: Buffer.from('{}') };
    await usual().end(claimed, { outcome: 'succeeded', ...output });
    const audited =
      'SELECT outcome, caller_left, billed_micros > 0 AS billed FROM audit_record WHERE run_id = $1';
    // This only attributes the end of the call: a completed run is billed.
    expect(await usual().database.reads.query(audited, [run.requestId])).toEqual([
      { outcome: 'succeeded', caller_left: true, billed: true },
    ]);
  });
});

it('the file covers every bucket of the closed set', () => {
  expect([...seen].toSorted()).toEqual([...bucketNames].toSorted());
  expect(seen.size).toBe(15);
});

/** Makes the call until the signal aborts it; the gateway decides what happens to the run. */
async function leave({ key }: Caller, signal: AbortSignal): Promise<unknown> {
  return fetch(`${usual().url}${model}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body,
    signal,
  }).catch((error: unknown) => error);
}
