import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { waitFor } from '../../../test/harness/wait-for.js';
import { StoredObjectRepository } from './stored-object.repository.js';
import { anyWindow } from './testing/any-window.js';
import { type AdmissionFacts, holdWorkspace, offsetToSecond } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
// The clock is at the start of a minute, so that no minute ends between two admissions.
const gateway = file.process(offsetToSecond(0));

const admitAll = (workspaceId: string, facts: AdmissionFacts[]) =>
  Promise.allSettled(facts.map((each) => gateway.admit(workspaceId, each)));

const oneWaits = () =>
  waitFor(async () => (await gateway.waiting()) === 1, { withinMs: 60_000, what: 'an admission to wait' });

/** The number of runs of the workspace in each transaction. */
async function batchesOf(workspaceId: string): Promise<number[]> {
  const rows = await gateway.sql<{ runs: number }>(
    `SELECT count(*)::integer AS runs FROM run JOIN outbox ON run_id = id WHERE run.workspace_id = $1
     GROUP BY run.xmin ORDER BY min(place)`,
    [workspaceId],
  );
  return rows.map(({ runs }) => runs);
}

describe('admissions of many workspaces', () => {
  it('share one commit if they arrive while a statement is in flight', async () => {
    const spaces = await Promise.all(Array.from({ length: 12 }, () => gateway.workspace()));
    const runs = await Promise.all(
      [...spaces, ...spaces].map(async ({ id }) => ({ id, runId: await gateway.run(id) })),
    );
    const [row] = await gateway.sql<{ commits: number }>(
      'SELECT count(DISTINCT xmin::text)::integer AS commits FROM run WHERE id = ANY($1)',
      [runs.map(({ runId }) => runId)],
    );
    expect(row?.commits).toBe(2);
    for (const { id } of spaces) expect(await gateway.counters(id)).toMatchObject({ inflight: 2 });
  });

  it('keep their own bodies and results', async () => {
    const spaces = await Promise.all(
      Array.from({ length: 5 }, () => gateway.workspace({ inflightLimit: 2 })),
    );
    const wanted = [...spaces, ...spaces, ...spaces].map(({ id }, index) => ({
      id,
      runId: v7(),
      body: Buffer.from(`{"nth":${index}}`),
      mode: 'sync' as const,
    }));
    const answers = await Promise.all(wanted.map(({ id, ...facts }) => gateway.admit(id, facts)));
    const kinds = [...Array<string>(10).fill('admitted'), ...Array<string>(5).fill('refused')];
    expect(answers.map(({ kind }) => kind)).toEqual(kinds);
    const rows = await gateway.sql<{ id: string; workspace: string; body: Buffer }>(
      'SELECT id, workspace_id AS workspace, body FROM run JOIN payload ON run_id = id WHERE id = ANY($1) ORDER BY id',
      [wanted.map(({ runId }) => runId)],
    );
    expect(rows).toEqual(
      wanted.slice(0, 10).map(({ id, runId, body }) => ({ id: runId, workspace: id, body })),
    );
  });
});

describe('admissions of one workspace', () => {
  it('go into the next statement while one is in flight, at most 50 at a time', async () => {
    const { id } = await gateway.workspace();
    await admitAll(
      id,
      Array.from({ length: 120 }, () => ({})),
    );
    expect(await batchesOf(id)).toEqual([1, 50, 50, 19]);
  });

  it('share a statement up to 4 MiB of inputs, and larger ones are sent alone', async () => {
    const { id } = await gateway.workspace();
    const sizes = [0, 3, 1, 1, 5, 0].map((mebibytes) => ({
      body: Buffer.alloc(mebibytes * 1024 * 1024, ' '),
    }));
    await admitAll(id, sizes);
    expect(await batchesOf(id)).toEqual([1, 2, 1, 1, 1]);
  });

  it('keep their order and get their own results', async () => {
    const { id } = await gateway.workspace({ inflightLimit: 3 });
    const facts = Array.from({ length: 9 }, (_each, index) => ({
      runId: v7(),
      ...(index === 4 && { key: 'mine' }),
    }));
    expect(await admitAll(id, facts)).toEqual(
      facts.map(({ runId }, index) => ({
        status: 'fulfilled',
        value: { kind: 'admitted', runId, ready: index < 3, position: index, ...anyWindow },
      })),
    );
  });

  it('do not wait for other workspaces', async () => {
    const [busy, other] = await Promise.all([gateway.workspace(), gateway.workspace()]);
    const letGo = await holdWorkspace(file.url, busy.id);
    const waiting = admitAll(busy.id, [{}, {}]);
    await oneWaits();
    expect(await admitAll(other.id, [{}, {}])).toMatchObject([
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ]);
    expect(await gateway.counters(busy.id)).toMatchObject({ inflight: 0 });
    await letGo();
    expect(await waiting).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
  });

  it('all fail at once when the database is down, and leave nothing behind', async () => {
    const { id } = await gateway.workspace();
    const letGo = await holdWorkspace(file.url, id);
    const waiting = admitAll(id, [{ key: 'a' }, { key: 'b' }, {}]);
    await oneWaits();
    await gateway.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    // None of them waits for the row, which is still locked.
    const away = { status: 'rejected', reason: { bucket: 'service_unavailable' } };
    expect(await waiting).toMatchObject([away, away, away]);
    await letGo();
    expect(await batchesOf(id)).toEqual([]);
    expect(await gateway.admit(id, { key: 'a', fingerprint: '0b' })).toMatchObject({ kind: 'admitted' });
    expect(await gateway.counters(id)).toMatchObject({ inflight: 1, windowCount: 1 });
  });
});

describe('an input in the asset store', () => {
  it('is kept from the admission on', async () => {
    const { id } = await gateway.workspace();
    const runId = v7();
    const key = `inputs/${runId}`;
    await new StoredObjectRepository(gateway.database).note(key, runId, 600);
    await gateway.run(id, { runId, body: { storedAs: key } });
    const [row] = await gateway.sql(
      `SELECT stored_as, body, delete_at = 'infinity' AS kept FROM payload JOIN stored_object ON key = stored_as
       WHERE payload.run_id = $1`,
      [runId],
    );
    expect(row).toEqual({ stored_as: key, body: null, kept: true });
  });

  it('fails only its own admission if it is missing', async () => {
    const { id } = await gateway.workspace();
    const lost = { key: 'lost', body: { storedAs: 'inputs/lost' } };
    const answers = await admitAll(id, [{}, {}, lost, {}]);
    expect(answers.map((each) => each.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await gateway.counters(id)).toMatchObject({ inflight: 3, windowCount: 3 });
    // The key is free.
    expect(await gateway.admit(id, { key: 'lost', fingerprint: '0b' })).toMatchObject({ kind: 'admitted' });
  });
});
