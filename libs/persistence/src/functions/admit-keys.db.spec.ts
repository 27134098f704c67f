import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../../test/harness/wait-for.js';
import type { Ending } from '../run-facts.js';
import {
  type AdmissionFacts,
  cancelled,
  cents,
  failed,
  holdWorkspace,
  offsetToSecond,
  succeeded,
  TestProcess,
  testModel,
} from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';

const file = await SpecDatabase.create();
// The clock is at the start of a minute, so that no minute ends between two admissions.
const beginning = offsetToSecond(0);
const gateway = file.process(beginning);
const other = file.process(beginning);

async function runsOf(workspaceId: string): Promise<number | undefined> {
  const [row] = await gateway.sql<{ runs: number }>(
    'SELECT count(*)::integer AS runs FROM run WHERE workspace_id = $1',
    [workspaceId],
  );
  return row?.runs;
}

const existing = (runId: string, matches = true, delivered = false) => ({
  kind: 'existing',
  runId,
  matches,
  delivered,
});

const waitingFor = (sessions: number) =>
  waitFor(async () => (await gateway.waiting()) === sessions, {
    withinMs: 60_000,
    what: `${sessions} sessions to wait`,
  });

const later = (offset: string) => file.process(offset);

/** The first admission has the key and waits for the workspace. The second waits for the first. */
async function meeting(
  workspaceId: string,
  first: AdmissionFacts,
  second: AdmissionFacts,
  meanwhile?: () => unknown,
) {
  const letGo = await holdWorkspace(file.url, workspaceId);
  const one = gateway.admit(workspaceId, { key: 'met', ...first });
  await waitingFor(1);
  const two = other.admit(workspaceId, { key: 'met', ...second });
  await waitingFor(2);
  await meanwhile?.();
  await letGo();
  return Promise.allSettled([one, two]);
}

/** Terminates the session that has waited longest. */
const cutOff = () =>
  other.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' ORDER BY query_start LIMIT 1`,
  );

describe('a key that is in use', () => {
  it('returns its run, and whether the request is the same, on any gateway', async () => {
    const { id } = await gateway.workspace({ windowLimit: 1, inflightLimit: 1, backlogLimit: 0 });
    const runId = await gateway.run(id, { key: 'mine', fingerprint: '0a' });
    const counters = await gateway.counters(id);
    for (const process of [gateway, other]) {
      expect(await process.admit(id, { key: 'mine', fingerprint: '0a' })).toEqual(existing(runId));
      expect(await process.admit(id, { key: 'mine', fingerprint: '0b' })).toEqual(existing(runId, false));
      expect(await process.admit(id, { key: 'mine', mode: 'sync' })).toEqual(existing(runId));
    }
    expect(await gateway.counters(id)).toEqual(counters);
    expect(await runsOf(id)).toBe(1);
  });

  it('is checked before any limit, so that a repeated request is never refused', async () => {
    const { id, name } = await gateway.workspace();
    const runId = await gateway.run(id, { key: 'mine' });
    const none = { inflightLimit: 0, committedLimitMicros: 0, backlogLimit: 0, windowLimit: 0 };
    await gateway.workspaces.change(name, none, 'test');
    expect(await gateway.admit(id, { key: 'mine' })).toEqual(existing(runId));
  });

  it('is separate in each workspace, and differs by a single letter', async () => {
    const [{ id: one }, { id: two }] = await Promise.all([gateway.workspace(), gateway.workspace()]);
    await gateway.run(one, { key: 'shared' });
    expect(await gateway.admit(two, { key: 'shared' })).toMatchObject({ kind: 'admitted' });
    expect(await gateway.admit(one, { key: 'Shared' })).toMatchObject({ kind: 'admitted' });
  });

  it('tells whether its result was delivered in full, which only deliveries of its own run change', async () => {
    const { id } = await gateway.workspace();
    const runId = await gateway.run(id, { key: 'mine' });
    const others = await gateway.run(id, { key: 'others' });
    await gateway.heldRuns.countDelivery(id, 'mine', others, 1);
    await gateway.heldRuns.countDelivery(id, 'others', runId, 1);
    expect(await gateway.admit(id, { key: 'mine' })).toEqual(existing(runId));
    await gateway.heldRuns.countDelivery(id, 'mine', runId, 1);
    expect(await gateway.admit(id, { key: 'mine' })).toEqual(existing(runId, true, true));
    expect(await gateway.admit(id, { key: 'others' })).toEqual(existing(others));
  });
});

describe('concurrent first uses of a key', () => {
  it('make one run: 100 on two gateways', async () => {
    const { id } = await gateway.workspace();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_each, index) =>
        (index % 2 ? gateway : other).admit(id, { key: 'hundred' }),
      ),
    );
    const first = answers.filter(({ kind }) => kind === 'admitted');
    expect(first).toHaveLength(1);
    const runId = first[0]?.kind === 'admitted' ? first[0].runId : '';
    expect(answers.filter(({ kind }) => kind !== 'admitted')).toEqual(
      Array.from({ length: 99 }, () => existing(runId)),
    );
    expect(await gateway.counters(id)).toMatchObject({ inflight: 1, windowCount: 1, heldMicros: cents(1) });
    expect(await runsOf(id)).toBe(1);
  });

  it('make the second wait for the first and return its run', async () => {
    const { id } = await gateway.workspace();
    const [one, two] = await meeting(id, { fingerprint: '0a' }, { fingerprint: '0b' });
    expect(one).toMatchObject({ value: { kind: 'admitted' } });
    const runId = one?.status === 'fulfilled' && one.value.kind === 'admitted' ? one.value.runId : '';
    expect(two).toMatchObject({ value: existing(runId, false) });
  });

  it('judge the second by itself if the first is refused', async () => {
    const { id } = await gateway.workspace({ committedLimitMicros: cents(5) });
    const [one, two] = await meeting(id, { reservedMicros: cents(6) }, { reservedMicros: cents(5) });
    expect(one).toMatchObject({ value: { kind: 'refused', limit: 'ceiling' } });
    expect(two).toMatchObject({ value: { kind: 'admitted' } });
    expect(await runsOf(id)).toBe(1);
  });

  it('let the second make the run if the first is interrupted', async () => {
    const { id } = await gateway.workspace();
    const [one, two] = await meeting(id, {}, {}, cutOff);
    expect(one).toMatchObject({ status: 'rejected', reason: { bucket: 'service_unavailable' } });
    expect(two).toMatchObject({ value: { kind: 'admitted' } });
    expect(await gateway.counters(id)).toMatchObject({ inflight: 1, windowCount: 1 });
    expect(await runsOf(id)).toBe(1);
  });

  it('are judged one by one in a batch', async () => {
    const { id } = await gateway.workspace({ committedLimitMicros: cents(5) });
    const costs = [6, 7, 5, 4].map((count) => ({ key: 'batch', reservedMicros: cents(count) }));
    const answers = await Promise.all(costs.map((each) => gateway.admit(id, each)));
    expect(answers.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'admitted', 'existing']);
  });
});

describe('a key is free again', () => {
  it('24 hours after its first use, by the database’s clock', async () => {
    const { id } = await gateway.workspace();
    const runId = await gateway.run(id, { key: 'day' });
    expect(await later('23 hours 58 minutes').admit(id, { key: 'day' })).toEqual(existing(runId));
    const dayAfter = later('24 hours 1 second');
    const again = await dayAfter.run(id, { key: 'day', fingerprint: '0b' });
    expect(again).not.toBe(runId);
    // A day later, because the first use is now the later one.
    expect(await later('47 hours 58 minutes').admit(id, { key: 'day', fingerprint: '0b' })).toEqual(
      existing(again),
    );
    expect(await gateway.stageOf(runId)).toBe('ready');
  });

  it('for one of many requests after it has expired', async () => {
    const { id } = await gateway.workspace();
    await gateway.run(id, { key: 'day' });
    const next = [later('25 hours'), later('25 hours')];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_each, index) =>
        (next[index % 2] as TestProcess).admit(id, { key: 'day' }),
      ),
    );
    expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(1);
    expect(await runsOf(id)).toBe(2);
  });

  it('after a refusal', async () => {
    const { id, name } = await gateway.workspace({ windowLimit: 0 });
    expect(await gateway.admit(id, { key: 'mine' })).toMatchObject({ kind: 'refused' });
    await gateway.workspaces.change(name, { windowLimit: 100 }, 'test');
    expect(await gateway.admit(id, { key: 'mine', fingerprint: '0b' })).toMatchObject({ kind: 'admitted' });
  });

  it('after its run ends without a purchase, but not after the end of an older run', async () => {
    const { id } = await gateway.workspace();
    const first = await gateway.run(id, { key: 'mine' });
    const dayAfter = later('25 hours');
    const second = await dayAfter.run(id, { key: 'mine' });
    await gateway.finish(first, 0, cancelled);
    expect(await dayAfter.admit(id, { key: 'mine' })).toEqual(existing(second));
    await gateway.finish(second, 0, failed('provider_error'));
    expect(await dayAfter.admit(id, { key: 'mine' })).toMatchObject({ kind: 'admitted' });
  });

  it('when its run is cancelled while it waits, or fails after the provider provably rejected it', async () => {
    const { id } = await gateway.workspace();
    const waiting = await gateway.run(id, { key: 'waiting' });
    await gateway.runs.requestCancel(id, testModel, waiting);
    expect(await gateway.admit(id, { key: 'waiting' })).toMatchObject({ kind: 'admitted' });
    const refused = await gateway.run(id, { key: 'refused' });
    const epoch = await gateway.take(refused, 'submitting');
    await gateway.dispatch.postpone(refused, epoch, 0);
    await gateway.finish(refused, epoch, failed('provider_error'));
    expect(await gateway.admit(id, { key: 'refused' })).toMatchObject({ kind: 'admitted' });
  });

  it.each<['submitting' | 'running' | 'copying', string, Ending]>([
    ['submitting', 'fails', failed('provider_error')],
    ['submitting', 'is cancelled', cancelled],
    ['running', 'succeeds', succeeded],
    ['running', 'fails', failed('provider_error')],
    ['running', 'fails and is billed', failed('content_policy_violation', true)],
    ['running', 'is cancelled', cancelled],
    ['copying', 'succeeds', succeeded],
  ])('but not after the outcome of a run that was sent: %s, it %s', async (stage, _how, ending) => {
    const { id } = await gateway.workspace();
    const runId = await gateway.run(id, { key: 'sent' });
    const { won } = await gateway.finish(runId, await gateway.take(runId, stage), ending);
    expect(won).toBe(true);
    expect(await gateway.admit(id, { key: 'sent' })).toEqual(existing(runId));
    expect(await gateway.admit(id, { key: 'sent', fingerprint: '0b' })).toEqual(existing(runId, false));
  });
});
