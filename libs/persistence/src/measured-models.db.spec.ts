import { readSettings } from '#schemas';
import { beforeEach, expect, it } from '@jest/globals';
import { measuredModels } from './measured-models.js';
import { RetentionRepository } from './retention.repository.js';
import { retentionSettings } from './settings.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const one = file.process();
const periods = readSettings(retentionSettings, {});
const retention = new RetentionRepository(one.database, periods);

let spaces: string[];
beforeEach(async () => {
  await one.sql('TRUNCATE measured_runs, audit_record, usage_sum, usage_progress');
  spaces = [];
  for (let count = 0; count < 4; count += 1) spaces.push((await one.workspace()).id);
});

interface Records {
  /** How many runs each of the first workspaces has. */
  of: readonly number[];
  /** The time of the nth run at the provider, in seconds, as SQL. */
  seconds?: string;
  bucket?: string | null;
  ago?: string;
  simulated?: boolean;
  isDispatched?: boolean;
}

/** Records runs of `acme/paint` in a closed hour. */
async function record(records: Records): Promise<void> {
  const {
    of,
    seconds = '12',
    bucket = null,
    ago = '3 hours',
    simulated = false,
    isDispatched = true,
  } = records;
  const outcome = bucket === null ? 'succeeded' : bucket === 'client_disconnected' ? 'cancelled' : 'failed';
  await one.sql(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
       caller_left, admitted_at, dispatched_at, completed_at, cost_micros, billed_micros, simulated)
     SELECT gen_random_uuid(), space, gen_random_uuid(), 'token:a', 'acme/paint', 'acme', 'POST', $3, $4, 200, false, at - interval '1 day',
       CASE WHEN $6 THEN at - make_interval(secs => ${seconds}) END, at, 0, 0, $7
     FROM unnest($1::uuid[], $2::integer[]) AS given (space, runs), generate_series(1, runs) AS n,
       (VALUES (date_trunc('hour', router_now() - $5::interval) + interval '5 minutes')) AS moment (at)`,
    [spaces.slice(0, of.length), of, outcome, bucket, ago, isDispatched, simulated],
  );
}

async function measured() {
  while ((await retention.addUpUsage()) > 0);
  return measuredModels(one.database);
}

it('is the median time at the provider and the runs that succeeded, over all workspaces', async () => {
  await record({ of: [20, 20, 1], seconds: 'n' });
  await record({ of: [9], bucket: 'provider_error', seconds: '500' });
  const [model, ...others] = await measured();
  expect(others).toEqual([]);
  expect(model).toEqual({
    model: 'acme/paint',
    days: 7,
    runs: 50,
    succeeded: 41,
    medianSeconds: expect.any(Number),
  });
  expect(Math.abs((model?.medianSeconds ?? 0) / 10 - 1)).toBeLessThan(0.1);
});

it('needs 50 runs, of three workspaces', async () => {
  await record({ of: [30, 19], ago: '5 hours' });
  expect(await measured()).toEqual([]);
  await record({ of: [300, 300], ago: '4 hours' });
  expect(await measured()).toEqual([]);
  await record({ of: [0, 0, 0, 1], ago: '3 hours' });
  expect(await measured()).toMatchObject([{ runs: 650 }]);
});

it('takes thirty days where seven have too few runs, and none that are older', async () => {
  await record({ of: [10, 10, 10] });
  await record({ of: [10, 10, 10], ago: '20 days' });
  await record({ of: [100, 100, 100], ago: '30 days 3 hours', bucket: 'provider_error' });
  expect(await measured()).toMatchObject([{ days: 30, runs: 60, succeeded: 60 }]);
  await record({ of: [10, 10, 10], ago: '2 hours' });
  expect(await measured()).toMatchObject([{ days: 7, runs: 60 }]);
});

it('leaves out what says nothing about the model: the caller’s mistakes, the router’s, and the simulator', async () => {
  await record({ of: [20, 20, 20], bucket: 'provider_timeout' });
  for (const bucket of ['invalid_input', 'content_policy_violation', 'client_disconnected', 'internal_error'])
    await record({ of: [50, 50, 50], bucket });
  await record({ of: [50, 50, 50], bucket: 'service_unavailable', isDispatched: false });
  await record({ of: [50, 50, 50], simulated: true });
  expect(await measured()).toMatchObject([{ runs: 60, succeeded: 0, medianSeconds: null }]);
});

it('is added up once, also by workers at the same time, and deleted after a month', async () => {
  await record({ of: [200, 200, 200, 200], seconds: '1 + n % 60' });
  const workers = [retention, new RetentionRepository(file.process().database, periods)];
  await Promise.all(
    workers.map(async (worker) => {
      while ((await worker.addUpUsage()) > 0);
    }),
  );
  expect(await measured()).toMatchObject([{ runs: 800, succeeded: 800 }]);
  const [rows] = await one.sql<{ most: number }>(
    'SELECT max(cardinality(workspaces)) AS most FROM measured_runs',
  );
  expect(rows?.most).toBe(3);
  const old = new RetentionRepository(file.process('33 days').database, periods);
  while ((await old.deleteOld('measured_runs')) > 0);
  expect(await one.sql('SELECT FROM measured_runs')).toEqual([]);
});
