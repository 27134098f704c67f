import { readSettings } from '#schemas';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RequestFilter, RequestReader } from './request-reader.js';
import { retentionSettings } from './settings.js';
import { planOf } from './testing/plan.js';
import { cents, succeeded } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const process = file.process();
const periods = readSettings(retentionSettings, {});
const requests = new RequestReader(process.database, periods);
const many = 100_000;

const rareKey = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f905678';

/** More in one statement could reach the statement timeout on a busy machine. */
const rowsPerStatement = 10_000;

/** Runs of a workspace that ended over the last year. One in a thousand failed, and the oldest ten of 100,000 differ. */
async function endedRuns(workspaceId: string, count: number): Promise<void> {
  for (let first = 1; first <= count; first += rowsPerStatement) {
    const last = Math.min(first + rowsPerStatement - 1, count);
    await insertEndedRuns(workspaceId, first, last);
  }
}

async function insertEndedRuns(workspaceId: string, first: number, last: number): Promise<void> {
  await process.sql(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
       caller_left, admitted_at, completed_at, cost_micros, billed_micros, attribution)
     SELECT overlay(v7_floor(at)::text placing substr(gen_random_uuid()::text, 25) from 25)::uuid, $1, gen_random_uuid(),
       CASE WHEN is_rare THEN 'key:${rareKey}' ELSE 'token:x' END,
       CASE WHEN is_rare THEN 'fal/flux/dev' ELSE 'bfl/flux-2-pro' END, 'bfl', 'POST',
       CASE WHEN is_rare THEN 'cancelled' WHEN n % 1000 = 0 THEN 'failed' ELSE 'succeeded' END,
       CASE WHEN is_rare THEN 'client_disconnected' WHEN n % 1000 = 0 THEN 'provider_error' END, 200, false, at,
       at + interval '1 second', 1, 0,
       jsonb_strip_nulls(jsonb_build_object('tag:project', 'alpha', 'user', CASE WHEN is_rare THEN 'u' END))
     FROM (SELECT n, n > 99990 AS is_rare, router_now() - n * interval '300 seconds' AS at FROM generate_series($2::integer, $3::integer) AS n) AS times`,
    [workspaceId, first, last],
  );
}

describe('with 100,000 runs of one workspace, and another workspace', () => {
  let workspaceId: string;
  // The counters of the workspace do not include rows without runs.
  afterAll(() => process.sql(`DELETE FROM outbox WHERE run_id NOT IN (SELECT id FROM run)`));
  beforeAll(async () => {
    const [own, other] = [await process.workspace(), await process.workspace()];
    workspaceId = own.id;
    await endedRuns(own.id, many);
    await endedRuns(other.id, 1_000);
    // Values that are rare in one workspace are common in another.
    await process.sql(
      `UPDATE audit_record SET model = 'fal/flux/dev', credential = 'key:${rareKey}', outcome = 'cancelled', bucket = 'client_disconnected',
          attribution = '{"user": "u"}' WHERE workspace_id = $1`,
      [other.id],
    );
    await process.sql(
      `INSERT INTO run_attribution SELECT workspace_id, dimension, value, run_id
       FROM audit_record, jsonb_each_text(attribution) AS given (dimension, value)`,
    );
    await process.run(own.id);
    await process.sql(
      `INSERT INTO outbox (workspace_id, run_id, provider, queue, reserved_micros, due_at)
       SELECT $1::uuid, gen_random_uuid(), 'bfl', 'dispatch', 1, 'infinity' FROM generate_series(1, 10000)`,
      [other.id],
    );
    await process.sql('ANALYZE audit_record, run_attribution, outbox');
  });

  it.each<[string, RequestFilter]>([
    ['the newest runs', {}],
    ['the runs of a model', { model: 'bfl/flux-2-pro' }],
    [
      'the runs of a day',
      { from: new Date(Date.now() - 200 * 86_400_000), until: new Date(Date.now() - 199 * 86_400_000) },
    ],
    ['the successful runs', { outcome: 'succeeded' }],
    ['the runs in progress', { stages: ['running'] }],
    ['the failed runs', { outcome: 'failed' }],
    ['the runs of a rare model', { model: 'fal/flux/dev' }],
    ['the runs of a rare key', { keyId: rareKey }],
    ['the runs with a rare outcome', { outcome: 'cancelled' }],
    ['the runs with a rare error', { bucket: 'client_disconnected' }],
    ['the runs of an unknown model', { model: 'no/model' }],
    ['the runs with a common tag', { attribution: { 'tag:project': 'alpha' } }],
    ['the runs of a rare user', { attribution: { user: 'u' } }],
    ['the runs of an unknown user', { attribution: { user: 'v' } }],
  ])('reads %s by index, and only the rows that it lists', async (_what, filter) => {
    const plan = await planOf(process, (database) =>
      new RequestReader(database, periods).page(workspaceId, filter, { limit: 20 }),
    );

    const text = plan.map(({ node }) => node).join('\n');
    expect(text).not.toMatch(/Seq Scan on (run|audit|outbox)/);
    expect(text).toMatch(/using (audit_record|run_attribution)_\w+ on|Result/);
    expect(plan.filter(({ node, rows }) => node.includes('Scan') && rows > 20)).toEqual([]);
  });

  it.each<[string, number, RequestFilter]>([
    ['a rare model', 10, { model: 'fal/flux/dev' }],
    ['a rare key', 10, { keyId: rareKey }],
    ['a rare outcome', 10, { outcome: 'cancelled' }],
    ['a rare error', 10, { bucket: 'client_disconnected', outcome: 'cancelled' }],
    ['a rare user', 10, { attribution: { user: 'u', 'tag:project': 'alpha' } }],
    ['a user and another tag', 0, { attribution: { user: 'u', 'tag:project': 'beta' } }],
    ['an error and a model that never met', 0, { bucket: 'provider_error', model: 'fal/flux/dev' }],
    [
      'a rare model and a time at which it was not called',
      0,
      { model: 'fal/flux/dev', from: new Date(Date.now() - 86_400_000) },
    ],
  ])('lists the runs of %s, newest first', async (_what, count, filter) => {
    const page = await requests.page(workspaceId, filter, { limit: 20 });
    const ids = page.map(({ requestId }) => requestId);
    expect(ids).toHaveLength(count);
    expect(ids).toEqual(ids.toSorted().toReversed());
    const half = await requests.page(workspaceId, filter, { after: ids[4], limit: 20 });
    expect(half.map(({ requestId }) => requestId)).toEqual(ids.slice(5));
  });

  it('finds one by index', async () => {
    const [, one] = await requests.page(workspaceId, {}, { limit: 2 });
    const plan = await planOf(process, (database) =>
      new RequestReader(database, periods).find(workspaceId, one?.requestId ?? ''),
    );

    expect(plan.map(({ node }) => node).join('\n')).not.toMatch(/Seq Scan on (run|audit|outbox|stored)/);
    expect(plan.filter(({ rows }) => rows > 1)).toEqual([]);
    expect(await requests.find(workspaceId, one?.requestId ?? '')).toMatchObject({ ...one });
  });

  it('pages to the oldest run', async () => {
    let after: string | undefined;
    let listed = 0;
    for (;;) {
      const page = await requests.page(workspaceId, {}, { after, limit: 5_000 });
      listed += page.length;
      if (page.length === 0) break;
      expect(after === undefined || (page[0]?.requestId ?? '') < after).toBe(true);
      after = page.at(-1)?.requestId;
    }
    expect(listed).toBe(many + 1);
  });
});

it('lists a run once, with its phase times and its bill, before and after it ends', async () => {
  const { id } = await process.workspace();
  const credential = 'key:0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
  const requestId = await process.run(id, { credential });
  const page = () => requests.page(id, {}, { limit: 10 });
  const live = {
    requestId,
    stage: 'ready',
    keyId: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234',
    outcome: null,
    bucket: null,
    grantedAt: expect.any(Date),
    dispatchedAt: null,
    completedAt: null,
    billedMicros: null,
    basis: null,
    isKept: true,
  };
  expect(await page()).toEqual([expect.objectContaining(live)]);
  await process.runTo(requestId, succeeded);
  const [ended, ...others] = await page();
  expect(others).toEqual([]);
  expect(ended).toEqual({
    ...ended,
    ...live,
    stage: 'completed',
    outcome: 'succeeded',
    dispatchedAt: expect.any(Date),
    completedAt: expect.any(Date),
    reservedMicros: cents(1),
    billedMicros: cents(1),
    basis: 'flat',
  });
  const later = new RequestReader(file.process('25 hours').database, periods);
  expect(await later.page(id, {}, { limit: 10 })).toMatchObject([{ requestId, isKept: false }]);
});
