import { readSettings } from '#schemas';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { measuredAnswers } from './measured-models.js';
import { RetentionRepository } from './retention.repository.js';
import { retentionSettings } from './settings.js';
import { SpecDatabase } from './testing/spec-database.js';
import { cancelled, succeeded } from './testing/runs.js';

const file = await SpecDatabase.create();
const one = file.process();
const retention = new RetentionRepository(one.database, readSettings(retentionSettings, {}));

let spaces: string[];
beforeEach(async () => {
  await one.sql('TRUNCATE measured_runs, audit_record, usage_sum, usage_progress');
  spaces = [];
  for (let count = 0; count < 13; count += 1) spaces.push((await one.workspace()).id);
});

interface Records {
  /** How many runs each of the first workspaces has. */
  of: readonly number[];
  /** The tokens of the nth run, as SQL. */
  tokens?: string;
  ms?: number;
  isOpen?: boolean;
  ago?: string;
  simulated?: boolean;
  outcome?: 'succeeded' | 'failed';
}

/** Records runs of `acme/talk` in a closed hour. */
async function record(records: Records): Promise<void> {
  const { of, tokens = '500', ms = 500, isOpen = true, ago = '3 hours' } = records;
  const { simulated = false, outcome = 'succeeded' } = records;
  await one.sql(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
       caller_left, admitted_at, dispatched_at, completed_at, cost_micros, billed_micros, simulated, written)
     SELECT gen_random_uuid(), space, gen_random_uuid(), 'token:a', 'acme/talk', 'acme', 'POST', $3,
       CASE $3 WHEN 'failed' THEN 'provider_error' END, 200, false, at, at, at, 0, 0, $5,
       jsonb_strip_nulls(jsonb_build_object('tokens', ${tokens}, 'ms', $6::integer, 'isOpen', nullif($7, false)))
     FROM unnest($1::uuid[], $2::integer[]) AS given (space, runs), generate_series(1, runs) AS n,
       (VALUES (date_trunc('hour', router_now() - $4::interval) + interval '5 minutes')) AS moment (at)`,
    [spaces.slice(0, of.length), of, outcome, ago, simulated, ms, isOpen],
  );
}

async function measured() {
  while ((await retention.addUpUsage()) > 0);
  return measuredAnswers(one.database);
}

const likely = async () => (await measured())[0]?.likelyTokens ?? null;

describe('the likely length of an answer', () => {
  it('is the 99th percentile, at most a quarter too high', async () => {
    // One run of a hundred has 1,000 tokens, and the others have up to 990.
    await record({ of: [400, 400, 400], tokens: '10 * (1 + n % 100)' });
    const tokens = await likely();
    expect(tokens).toBeGreaterThanOrEqual(990);
    expect(tokens).toBeLessThan(990 * 1.25 + 1);
  });

  it('needs 1,000 runs', async () => {
    await record({ of: [333, 333, 333] });
    expect(await likely()).toBeNull();
    await record({ of: [1], ago: '2 hours' });
    expect(await likely()).toBeGreaterThanOrEqual(500);
  });

  it('needs three workspaces, each with a hundred runs', async () => {
    await record({ of: [5000, 5000], ago: '5 hours' });
    expect(await likely()).toBeNull();
    await record({ of: [0, 0, 99], ago: '4 hours' });
    expect(await likely()).toBeNull();
    await record({ of: [0, 0, 1], ago: '3 hours' });
    expect(await likely()).toBeGreaterThanOrEqual(500);
  });

  it.each([
    ['long', '120000', [0, 0, 0, 20_000]],
    ['short', '1', [0, 0, 0, 20_000]],
    ['long', '120000', [20_000]],
    ['short', '1', [20_000]],
  ])('does not move for a wall of %s answers that one workspace plants: %s, %j', async (_, tokens, of) => {
    await record({ of: [400, 400, 400], tokens: '400 + n', ago: '5 hours' });
    const before = await likely();
    expect(before).toBeGreaterThanOrEqual(790);
    await record({ of, tokens });
    expect(await likely()).toBe(before);
  });

  it('leaves out runs with a limit, failed and simulated runs, and those of more than thirty days ago', async () => {
    await record({ of: [400, 400, 400], tokens: '10', isOpen: false });
    await record({ of: [400, 400, 400], outcome: 'failed' });
    await record({ of: [400, 400, 400], simulated: true });
    await record({ of: [400, 400, 400], ago: '30 days 3 hours' });
    expect(await likely()).toBeNull();
  });

  it('counts the runs of 29 days ago', async () => {
    await record({ of: [400, 400, 400], ago: '29 days' });
    expect(await likely()).toBeGreaterThanOrEqual(500);
  });

  it('counts any number of tokens', async () => {
    await record({ of: [400, 400, 400], tokens: '9007199254740991' });
    expect(await likely()).toBeGreaterThanOrEqual(500_000);
    await one.sql('TRUNCATE measured_runs');
    await record({ of: [400, 400, 400], tokens: '1', ago: '2 hours' });
    expect(await likely()).toBe(2);
  });
});

describe('the speed', () => {
  it('is the median of the workspaces, from 50 runs with and without a limit of three of them', async () => {
    await record({ of: [20, 28], tokens: '200', ms: 2000, isOpen: false, ago: '5 hours' });
    await record({ of: [0, 0, 1], tokens: '300', ms: 2000, ago: '4 hours' });
    expect(await measured()).toEqual([]);
    await record({ of: [0, 0, 1], tokens: '100', ms: 2000, ago: '3 hours' });
    expect(await measured()).toEqual([{ model: 'acme/talk', likelyTokens: null, tokensPerSecond: 100 }]);
  });

  it('leaves out what took less than a second, and does not move for one workspace', async () => {
    await record({ of: [100, 100, 100], tokens: '400', ms: 4000, ago: '5 hours' });
    await record({ of: [100, 100, 100], tokens: '400', ms: 999, ago: '4 hours' });
    await record({ of: [5000], tokens: '1', ms: 60_000, ago: '3 hours' });
    expect(await measured()).toMatchObject([{ tokensPerSecond: 100 }]);
  });
});

it('keeps ten workspaces a day, those with the most runs', async () => {
  // Two hours of one day.
  const fiveOfTheDay = 43 + new Date().getUTCHours();
  await record({ of: [1, ...Array<number>(9).fill(5)], ago: `${fiveOfTheDay} hours` });
  await measured();
  await record({ of: [...Array<number>(10).fill(0), 3, 7, 9], ago: `${fiveOfTheDay - 2} hours` });
  await measured();
  const kept = await one.sql<{ runs: number }>(
    `SELECT (counts ->> 'runs')::integer AS runs FROM measured_runs, jsonb_each(answers) AS of_space (space, counts) ORDER BY 1`,
  );
  expect(kept.map(({ runs }) => runs)).toEqual([5, 5, 5, 5, 5, 5, 5, 5, 7, 9]);
});

it('comes from the runs that workers end', async () => {
  const [space = ''] = spaces;
  const written = { tokens: 12, ms: 1500, isOpen: true } as const;
  for (const ending of [succeeded, cancelled]) {
    const runId = await one.run(space, { runFacts: {} });
    await one.finish(runId, await one.take(runId, 'submitting'), ending, undefined, written);
  }
  const records = await one.sql<{ written: object | null }>(
    'SELECT written FROM audit_record WHERE workspace_id = $1 ORDER BY written',
    [space],
  );
  expect(records.map((each) => each.written)).toEqual([written, null]);
});
