import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { type Ending, HeldRunRepository, type Workspace } from '#persistence';
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

/** A call with a key that reads nothing beyond the head of its answer. */
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
    expect(await deliveries(workspace)).toBe(1);
  });

  it('is a replay of what lies beside the database as well', async () => {
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
  });

  it('never gets a result once more that holds URLs of the provider’s', async () => {
    const { caller, workspace } = await gateway().caller();
    const answering = keyed(caller);
    await gateway().finish(await gateway().admittedRun(workspace), output(Buffer.from('{}'), true));
    expect((await answering).status).toBe(200);
    const again = await keyed(caller);
    expect([again.status, again.bucket]).toEqual([409, 'invalid_input']);
  });

  it.each(['in the database', 'beside it'])(
    'cannot come before the delivery is noted: a result %s',
    async (where) => {
      const { caller, workspace } = await gateway().caller();
      let isAnswered = false;
      const answering = keyed(caller).finally(() => (isAnswered = true));
      const run = await gateway().admittedRun(workspace);
      const beside = await gateway().outputBeside(run);
      beside.put(Buffer.from('{}'));
      const dataSource = await gateway().database.dataSource();
      await dataSource.transaction(async (manager) => {
        await manager.query('SELECT 1 FROM idempotency_key WHERE workspace_id = $1 FOR UPDATE', [
          workspace.id,
        ]);
        await gateway().finish(run, {
          outcome: 'succeeded',
          mediaType: 'application/json',
          body: where === 'beside it' ? { storedAs: beside.storedAs } : Buffer.from('{}'),
        });
        await gateway().waitsForLock('UPDATE idempotency_key SET deliveries');
        expect(isAnswered).toBe(false);
      });
      expect((await answering).status).toBe(200);
    },
  );
});

describe('a retry is a collection', () => {
  it('while the note of a broken delivery is still being taken back, by another gateway', async () => {
    const { caller, workspace } = await gateway().caller();
    const { answering, hangUp } = await unread(caller);
    const run = await gateway().admittedRun(workspace);
    hangUp();
    await expect(answering).rejects.toThrow('socket hang up');
    await gateway().finish(run, output(Buffer.from('{}'), true));
    const other = new HeldRunRepository(gateway().database);
    await other.noteDelivered(workspace.id, 'k', run.requestId);
    // However long this test takes.
    const fresh = `UPDATE idempotency_key SET delivered_at = now() + interval '1 hour' WHERE run_id = $1`;
    await gateway().database.work.query(fresh, [run.requestId]);
    const collecting = keyed(caller);
    const looking = `SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT deliveries, delivered_at%'`;
    await waitFor(async () => (await gateway().database.reads.query(looking)).length > 0, {
      withinMs: 60_000,
      what: 'the retry to look at the note',
    });
    await other.takeBackDelivered(workspace.id, 'k', run.requestId);
    const collected = await collecting;
    expect([collected.status, isReplay(collected)]).toEqual([200, false]);
  });

  it('after a connection that was reset with the whole of a small result unread', async () => {
    const { caller, workspace } = await gateway().caller();
    const { hostname, port } = new URL(gateway().url);
    const socket = connect(Number(port), hostname).pause();
    const head = [`POST ${path} HTTP/1.1`, 'host: x', `x-api-key: ${caller.key}`, 'idempotency-key: k'];
    const lines = [...head, 'content-type: application/json', `content-length: ${body.length}`, '', body];
    socket.write(lines.join('\r\n'));
    const run = await gateway().admittedRun(workspace);
    await gateway().finish(run, output(Buffer.from('{}'), true));
    const noted = async (times: number) => (await deliveries(workspace)) === times;
    await waitFor(() => noted(1), { withinMs: 60_000, what: 'the delivery to be noted' });
    const answered = (line: string) => line.includes('"status":200') && line.includes(workspace.id);
    await waitFor(() => gateway().logs().split('\n').some(answered), {
      withinMs: 60_000,
      what: 'the answer to be in the hands of the operating system',
    });
    socket.resetAndDestroy();
    await waitFor(() => noted(0), { withinMs: 60_000, what: 'the delivery to be taken back' });
    const collected = await keyed(caller);
    expect([collected.status, isReplay(collected)]).toEqual([200, false]);
    expect(await deliveries(workspace)).toBe(1);
  });

  it.each([
    ['a result that could be repeated', false],
    ['one that could not', true],
  ])('after a 503 of our own in place of %s', async (_what, providerUrls) => {
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
    expect([refused.status, refused.bucket]).toEqual([503, 'service_unavailable']);
    expect(await deliveries(workspace)).toBe(0);
    put(Buffer.from('{"paid":true}'));
    const collected = await keyed(caller);
    expect([collected.status, isReplay(collected)]).toEqual([200, false]);
    expect(collected.bytes.toString()).toBe('{"paid":true}');
  });

  it.each(['in the database', 'beside it'])(
    'after a connection that broke before the end of a result %s',
    async (where) => {
      const { caller, workspace } = await gateway().caller();
      // More than the buffers of both sides take.
      const bytes = Buffer.alloc(32_000_000, 'a');
      const { answering, hangUp } = await unread(caller);
      const run = await gateway().admittedRun(workspace);
      const isBeside = where === 'beside it';
      const beside = await gateway().outputBeside(run);
      if (isBeside) beside.put(bytes);
      await gateway().finish(run, {
        outcome: 'succeeded',
        mediaType: 'text/plain',
        body: isBeside ? { storedAs: beside.storedAs } : bytes,
        providerUrls: true,
      });
      await answering;
      expect(await deliveries(workspace)).toBe(isBeside ? 0 : 1);
      hangUp();
      await waitFor(async () => (await deliveries(workspace)) === 0, {
        withinMs: 60_000,
        what: 'the delivery to be taken back',
      });
      const collected = await keyed(caller);
      expect([collected.status, isReplay(collected)]).toEqual([200, false]);
      expect(collected.bytes.equals(bytes)).toBe(true);
    },
  );
});

it.each([
  ['run', { runnable: ['fal/*'] }, 403],
  ['see', { visible: ['fal/*'] }, 404],
])('a retry collects what the caller may no longer %s', async (_what, change, refusal) => {
  const { caller, workspace } = await gateway().caller();
  const answering = keyed(caller);
  await gateway().finish(await gateway().admittedRun(workspace), output(Buffer.from('{"made":true}')));
  const first = await answering;
  await gateway().operate((workspaces) => workspaces.change(workspace.id, change, 'test'));
  const fresh = (more: object = {}) => caller.call('POST', path, { body, ...more });
  await waitFor(async () => (await fresh()).status === refusal, {
    withinMs: 60_000,
    what: 'the change to count',
  });
  const again = await keyed(caller);
  expect([again.status, isReplay(again), again.bytes.equals(first.bytes)]).toEqual([200, true, true]);
  // A key that is free, and the key of another request, are refused as ever.
  const headers = { 'idempotency-key': 'k' };
  expect((await fresh({ headers: { 'idempotency-key': 'other' } })).status).toBe(refusal);
  expect((await fresh({ headers, body: '{"prompt":"y"}' })).status).toBe(refusal);
});
