import { beforeAll, describe, expect, it } from '@jest/globals';
import { costMicros, failed, refused, RunMaker, succeeded } from './finished-runs.js';
import { ownDatabase } from './own-database.js';
import { answerOf, exportedLines, runAdmin } from './run-admin.js';

interface UsageDocument {
  request_id: string;
  run_id: string;
  credential: string;
  key_prefix: string | null;
  model: string;
  route: string;
  outcome: string;
  bucket: string | null;
  status: number;
  admitted_at: string;
  completed_at: string;
  latency_ms: number;
  cost_cents: number;
  billed_cents: number;
  caller_left: boolean;
  simulated: boolean;
}

const costCents = costMicros / 10_000;

const { env, database } = await ownDatabase();
const list = (...words: string[]) =>
  answerOf<{ runs: number; billed_cents: number; records: UsageDocument[] }>(
    env,
    'usage',
    'list',
    '--workspace',
    'acme',
    ...words,
  );

describe('admin usage and credits list, after a mix of outcomes', () => {
  let key: { id: string; prefix: string };
  /** Whether the run is billed, by request id, oldest first. */
  const expected = new Map<string, boolean>();

  beforeAll(async () => {
    const { id } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme', '--credits-cents', '0');
    await answerOf(env, 'credits', 'add', '--workspace', 'acme', '--cents', '1000', '--note', 'paid');
    key = await answerOf(env, 'key', 'create', '--workspace', 'acme');
    await endInEveryWay(id);
  });
  async function endInEveryWay(workspaceId: string): Promise<void> {
    const runs = new RunMaker(database);
    const byKey = { workspaceId, credential: `key:${key.id}` };
    const held = await runs.made({ ...byKey, mode: 'sync' }, succeeded);
    expected.set(held.requestId, true);
    await database.work.query(
      `UPDATE audit_record SET admitted_at = completed_at - interval '1500 milliseconds' WHERE run_id = $1`,
      [held.runId],
    );
    for (const [ending, billed] of [
      [succeeded, true],
      [refused(true), true],
      [refused(false), false],
      [failed('provider_error', 502), false],
      [failed('invalid_input', 422), false],
    ] as const)
      expected.set((await runs.made(byKey, ending)).requestId, billed);

    const left = await runs.admit({ ...byKey, mode: 'sync' });
    await runs.end(left, succeeded, async () => expect(await runs.leave(left)).toBe('going_on'));
    expected.set(left.requestId, true);
    const cancelled = await runs.admit(byKey);
    expect(await runs.cancel(cancelled, byKey)).toBe('waiting');
    expected.set(cancelled.requestId, false);
    const withdrawn = await runs.admit({ ...byKey, mode: 'sync' });
    expect(await runs.leave(withdrawn)).toBe('withdrawn');
    expected.set(withdrawn.requestId, false);

    const credential = 'token:a "robot", with commas';
    const last = await runs.made({ workspaceId, credential, route: 'the last route' }, succeeded);
    expected.set(last.requestId, true);
  }

  it('list the last runs, newest first, with their totals', async () => {
    const listed = await list();
    const billedRuns = [...expected.values()].filter(Boolean).length;
    expect(listed.runs).toBe(expected.size);
    expect(listed.billed_cents).toBeCloseTo(billedRuns * costCents, 4);
    expect(listed.records.map(({ request_id }) => request_id)).toEqual([...expected.keys()].toReversed());
    expect(listed.records.map(({ billed_cents }) => billed_cents > 0)).toEqual(
      [...expected.values()].toReversed(),
    );
    expect(listed.records[0]).toMatchObject({
      credential: 'token:a "robot", with commas',
      key_prefix: null,
      route: 'the last route',
      outcome: 'succeeded',
      status: 200,
      bucket: null,
      cost_cents: costCents,
      billed_cents: costCents,
    });
    expect(listed.records.at(-1)).toMatchObject({
      credential: `key:${key.id}`,
      key_prefix: key.prefix,
      latency_ms: 1500,
    });
    expect(listed.records.filter((record) => record.caller_left)).toHaveLength(2);
    expect(listed.records.filter((record) => record.outcome === 'cancelled')).toHaveLength(2);
  });

  it('show people the requested number of runs, under the totals of all', async () => {
    const { code, out } = await runAdmin(env, 'usage', 'list', '--workspace', 'acme', '--limit', '1');
    expect(code).toBe(0);
    expect(out).toContain([...expected.keys()].at(-1));
    expect(out).toContain(`${expected.size} runs, billed`);
    expect(out).toContain('1 shown');
  });

  it('group by the names of keys, and count runs of tokens separately', async () => {
    const { code, out } = await runAdmin(env, 'usage', '--workspace', 'acme', '--by', 'key');
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^${key.prefix} \\(.*\\) +\\d+`, 'm'));
    expect(out).toMatch(/^- +1 /m);
  });

  it('export the same as CSV and as JSON Lines, and only runs that ended in the range', async () => {
    const { records } = await list();
    const oldestFirst = records.toReversed();
    const lines = await exportedLines(env, ['--workspace', 'acme', '--format', 'jsonl']);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(oldestFirst);

    const csv = await exportedLines(env, ['--workspace', 'acme']);
    expect(csv[0]).toBe(Object.keys(oldestFirst[0] ?? {}).join(','));
    expect(csv).toHaveLength(records.length + 1);
    expect(csv.filter((line) => line.includes('"token:a ""robot"", with commas"'))).toHaveLength(1);

    // From the second run to just before the fourth. The options have milliseconds, the records microseconds.
    await database.work.query(
      `UPDATE audit_record SET completed_at = timestamptz '2026-01-01' + place * interval '1 second', simulated = place = 2
       FROM (SELECT run_id, row_number() OVER (ORDER BY completed_at) AS place FROM audit_record) AS ordered
       WHERE ordered.run_id = audit_record.run_id`,
    );
    const range = ['--from', '2026-01-01T00:00:02Z', '--until', '2026-01-01T00:00:04Z'];
    const some = await exportedLines(env, ['--workspace', 'acme', '--format', 'jsonl', ...range]);
    const [second, third] = oldestFirst.slice(1, 3).map((record) => record.run_id);
    expect(some.map((line) => JSON.parse(line) as UsageDocument)).toMatchObject([
      { run_id: second, simulated: true },
      { run_id: third, simulated: false },
    ]);
    expect((await list(...range)).runs).toBe(2);
  });

  it('show the ledger, whose last balance is the workspace’s', async () => {
    const ledger = await answerOf<{ credits_cents: number; entries: Record<string, unknown>[] }>(
      env,
      'credits',
      'list',
      '--workspace',
      'acme',
    );
    const billedRuns = [...expected.values()].filter(Boolean).length;
    expect(ledger.credits_cents).toBeCloseTo(1000 - billedRuns * costCents, 4);
    expect(ledger.entries[0]).toMatchObject({ balance_cents: ledger.credits_cents });
    expect(ledger.entries.at(-1)).toMatchObject({ amount_cents: 1000, run_id: null, note: 'paid' });
    expect(ledger.entries).toHaveLength(billedRuns + 1);
    const { out } = await runAdmin(env, 'credits', 'list', '--workspace', 'acme', '--limit', '1');
    expect(out.trim().split('\n')).toHaveLength(2);
  });

  it.each([
    [['export', '--format', 'xml'], 2],
    [['export', '--json'], 2],
    [['list'], 2],
    [['list', '--workspace', 'acme', '--from', 'yesterday'], 2],
    [['list', '--workspace', 'nobody'], 1],
    [['export', '--workspace', 'nobody'], 1],
  ])('for usage %j exit with %i', async (words, code) => {
    expect(await runAdmin(env, 'usage', ...words)).toMatchObject({ code, out: '' });
  });
});
