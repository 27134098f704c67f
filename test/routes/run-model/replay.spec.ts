import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import type { Ending, Workspace } from '#persistence';
import type { Caller } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro';
const body = '{"prompt":"x"}';

const keyed = (caller: Caller) => caller.call('POST', path, { body, headers: { 'idempotency-key': 'k' } });
const isReplay = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed') === 'true';
const output = (bytes: Buffer, providerUrls = false): Ending => ({
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: bytes,
  providerUrls,
});
const failure: Ending = {
  outcome: 'failed',
  bucket: 'content_policy_violation',
  status: 400,
  detail: 'It was refused.',
  billable: false,
};

async function deliveries({ id }: Workspace): Promise<number | undefined> {
  const statement = 'SELECT deliveries FROM idempotency_key WHERE workspace_id = $1';
  return (await gateway().database.reads.query<{ deliveries: number }>(statement, [id]))[0]?.deliveries;
}

/** A call with a key that reads only the headers of its answer. */
async function unread(caller: Caller): Promise<{ answering: Promise<unknown[]>; hangUp: () => void }> {
  const request = http.request(`${gateway().url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': caller.key, 'content-type': 'application/json', 'idempotency-key': 'k' },
  });
  const answering = once(request, 'response');
  request.on('error', () => {});
  request.end(body);
  return { answering, hangUp: () => request.destroy() };
}

const notedOnce = async (workspace: Workspace) =>
  waitFor(async () => (await deliveries(workspace)) === 1, {
    withinMs: 60_000,
    what: 'the delivery to be recorded',
  });

describe('a retry after a complete answer', () => {
  it.each([
    ['a result', output(Buffer.from('{"made":true}')), 200],
    ['the run’s own failure', failure, 400],
  ])('is a replay, each time: %s', async (_what, ending, status) => {
    const { caller, workspace } = await gateway().caller();
    const answering = keyed(caller);
    await gateway().finish(await gateway().admittedRun(workspace), ending);
    const first = await answering;
    expect([first.status, isReplay(first)]).toEqual([status, false]);
    const again = await keyed(caller);
    expect([again.status, isReplay(again), again.bytes.equals(first.bytes)]).toEqual([status, true, true]);
  });

  it('also replays an output that is stored outside the database', async () => {
    const { caller, workspace } = await gateway().caller();
    const answering = keyed(caller);
    const run = await gateway().admittedRun(workspace);
    const { storedAs, put } = await gateway().outputBeside(run);
    const bytes = Buffer.alloc(1_000_000, 'a');
    put(bytes);
    await gateway().finish(run, { outcome: 'succeeded', mediaType: 'text/plain', body: { storedAs } });
    const first = await answering;
    expect([first.status, isReplay(first), first.bytes.equals(bytes)]).toEqual([200, false, true]);
    const again = await keyed(caller);
    expect([again.status, isReplay(again), again.bytes.equals(bytes)]).toEqual([200, true, true]);
    expect([first, again].map(({ headers }) => headers.get('content-length'))).toEqual([
      '1000000',
      '1000000',
    ]);
  });

  it('never gets a result with the provider’s own URLs a second time', async () => {
    const { caller, workspace } = await gateway().caller();
    const answering = keyed(caller);
    await gateway().finish(await gateway().admittedRun(workspace), output(Buffer.from('{}'), true));
    expect((await answering).status).toBe(200);
    await notedOnce(workspace);
    const again = await keyed(caller);
    expect([again.status, again.bucket, isReplay(again)]).toEqual([409, 'invalid_input', true]);
  });
});

it('a call that joins a run says so, however the run ends, and no other call does', async () => {
  const { caller, workspace } = await gateway().caller();
  const first = keyed(caller);
  const run = await gateway().admittedRun(workspace);
  const joining = keyed(caller);
  const other = await caller.call('POST', path, {
    body: '{"prompt":"y"}',
    headers: { 'idempotency-key': 'k' },
  });
  expect([other.status, isReplay(other)]).toEqual([409, false]);
  await gateway().finish(run, failure);
  const answers = await Promise.all([first, joining]);
  expect(answers.map((answer) => [answer.status, isReplay(answer)])).toEqual([
    [400, false],
    [400, true],
  ]);
});

describe('a retry collects', () => {
  it('a once-only result, after its first caller had left before the outcome', async () => {
    const { caller, workspace } = await gateway().caller();
    const { answering, hangUp } = await unread(caller);
    const run = await gateway().admittedRun(workspace);
    hangUp();
    await expect(answering).rejects.toThrow('socket hang up');
    await gateway().finish(run, output(Buffer.from('{}'), true));
    const collected = await keyed(caller);
    expect([collected.status, isReplay(collected)]).toEqual([200, true]);
    await notedOnce(workspace);
    expect((await keyed(caller)).status).toBe(409);
  });

  it('after a connection that was reset with a whole small result unread', async () => {
    const { caller, workspace } = await gateway().caller();
    const { hostname, port } = new URL(gateway().url);
    const socket = connect(Number(port), hostname).pause();
    const head = [`POST ${path} HTTP/1.1`, 'host: x', `x-api-key: ${caller.key}`, 'idempotency-key: k'];
    const lines = [...head, 'content-type: application/json', `content-length: ${body.length}`, '', body];
    socket.write(lines.join('\r\n'));
    const run = await gateway().admittedRun(workspace);
    await gateway().finish(run, output(Buffer.from('{}'), true));
    await notedOnce(workspace);
    socket.resetAndDestroy();
    await waitFor(async () => (await deliveries(workspace)) === 0, {
      withinMs: 60_000,
      what: 'the delivery to be revoked',
    });
    expect((await keyed(caller)).status).toBe(200);
    await notedOnce(workspace);
  });

  it.each([
    ['a repeatable result', false],
    ['a once-only result', true],
  ])('after our own 503 in place of %s', async (_what, providerUrls) => {
    const { caller, workspace } = await gateway().caller();
    const answering = keyed(caller);
    const run = await gateway().admittedRun(workspace);
    const { storedAs, put } = await gateway().outputBeside(run);
    await gateway().finish(run, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: { storedAs },
      providerUrls,
    });
    const refused = await answering;
    expect([refused.status, refused.bucket, isReplay(refused)]).toEqual([503, 'service_unavailable', false]);
    put(Buffer.from('{"paid":true}'));
    const collected = await keyed(caller);
    expect([collected.status, isReplay(collected)]).toEqual([200, true]);
    expect(collected.bytes.toString()).toBe('{"paid":true}');
  });

  it.each(['in the database', 'outside it'])(
    'after a connection that broke before the end of a result %s',
    async (where) => {
      const { caller, workspace } = await gateway().caller();
      // Larger than the buffers of both sides.
      const bytes = Buffer.alloc(32_000_000, 'a');
      const { answering, hangUp } = await unread(caller);
      const run = await gateway().admittedRun(workspace);
      const isBeside = where === 'outside it';
      const beside = await gateway().outputBeside(run);
      if (isBeside) beside.put(bytes);
      await gateway().finish(run, {
        outcome: 'succeeded',
        mediaType: 'text/plain',
        body: isBeside ? { storedAs: beside.storedAs } : bytes,
        providerUrls: true,
      });
      await answering;
      hangUp();
      const collected = await keyed(caller);
      expect(collected.status).toBe(200);
      expect(collected.bytes.equals(bytes)).toBe(true);
      await notedOnce(workspace);
    },
  );
});

it.each([
  ['run', { runnable: ['fal/*'] }, 403],
  ['see', { visible: ['fal/*'] }, 404],
])(
  'a retry collects the result of a model that the caller may no longer %s',
  async (_what, change, refusal) => {
    const { caller, workspace } = await gateway().caller();
    const answering = keyed(caller);
    await gateway().finish(await gateway().admittedRun(workspace), output(Buffer.from('{"made":true}')));
    const first = await answering;
    await gateway().operate((workspaces) => workspaces.change(workspace.id, change, 'test'));
    const fresh = (more: object = {}) => caller.call('POST', path, { body, ...more });
    await waitFor(async () => (await fresh()).status === refusal, {
      withinMs: 60_000,
      what: 'the change to take effect',
    });
    const again = await keyed(caller);
    expect([again.status, isReplay(again), again.bytes.equals(first.bytes)]).toEqual([200, true, true]);
    // An unused key, and the key of another request, are rejected as before.
    const headers = { 'idempotency-key': 'k' };
    expect((await fresh({ headers: { 'idempotency-key': 'other' } })).status).toBe(refusal);
    expect((await fresh({ headers, body: '{"prompt":"y"}' })).status).toBe(refusal);
  },
);
