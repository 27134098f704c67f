import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { roomy } from '../faults/crowd.js';
import { holdToInvariants, System, withTools } from '../harness/faults.js';
import {
  type Caller,
  failOnLeftovers,
  newTag,
  type Submitted,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { expectLossless } from './loss-under-load.js';
import { startPgBouncer } from './pgbouncer.js';

const { describeWith, tools } = await withTools('pgbouncer');
const model = 'bfl/flux-2-pro';
const bodyOf = (prompt: string): string => JSON.stringify({ prompt });

describeWith.each(transports())('behind PgBouncer in transaction mode, on %s', (transport) => {
  let system: System;
  let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
  let caller: Caller;
  let env: Record<string, string>;

  beforeAll(async () => {
    system = await System.start({ transport, gateways: 0, workers: 0 });
    const { url } = system.database;
    pooler = await startPgBouncer(tools.pgbouncer, url);
    env = { DATABASE_URL: pooler.url(url), DATABASE_DIRECT_URL: url };
  });
  afterAll(async () => {
    await system.stop();
    await pooler.stop();
  });

  it('an app does not start while statements have no time limit', async () => {
    const worker = await system.spawnWorker(env);
    await expect(worker.ready).rejects.toThrow(/ALTER ROLE … SET statement_timeout/);
    system.forget(worker);
    system.apps.splice(system.apps.indexOf(worker), 1);
  });

  it('apps start once the server limits statements', async () => {
    await system.sql(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = %L', current_database(), '5s'); END $$`,
    );
    // Only new sessions have the setting.
    await system.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name <> 'oracle' AND pid <> pg_backend_pid()`,
    );
    await Promise.all([
      ...[1, 2].map(() => system.startGateway(env)),
      ...[1, 2].map(() => system.startWorker(env)),
    ]);
    caller = await system.caller({ inflightLimit: 60 });
  });

  it('queued runs complete and are collected', async () => {
    const runs = await Promise.all(
      Array.from({ length: 60 }, (_each, index) => caller.submit(model, bodyOf(`queued ${index}`))),
    );
    for (const run of runs) await caller.completed(run);
    const collected = await Promise.all(runs.map((run) => caller.collect(run)));
    expect(collected.map(({ status }) => status)).toEqual(runs.map(() => 200));
  });

  it('synchronous calls are answered as soon as their run is done', async () => {
    const startedAtMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_each, index) =>
        caller.call('POST', `/v2/models/${model}`, { body: bodyOf(`held ${index}`), withinMs: 60_000 }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(performance.now() - startedAtMs).toBeLessThan(30_000);
  });

  it('a run is cancelled at its provider', async () => {
    const tag = newTag('pooled');
    const run = await caller.submit('fal/flux-dev', bodyOf(`${unending} [[sim:tag=${tag}]]`));
    await waitFor(() => stageIs(run, 'running'), {
      withinMs: 30_000,
      what: 'the run to be in progress',
    });
    expect((await caller.cancel(run)).status).toBe(202);
    expect(await caller.completed(run)).toMatchObject({ error_type: 'client_disconnected' });
    const [entry] = await system.provider.ledger(tag);
    expect(entry?.cancelAskedAtMs).not.toBeNull();
  });

  it('the registry is readable, and no failure was logged', async () => {
    const answer = await fetch(`${system.gateways[0]?.url}/nodes?latest=true`);
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
    const logged = system.apps.flatMap((app) => app.logs().split('\n'));
    expect(logged.filter((line) => /"level":(5|6)0|prepared statement/.test(line))).toEqual([]);
    await holdToInvariants(system);
  });

  it('no run is lost or submitted twice when PgBouncer crashes under load and restarts', async () => {
    await expectLossless(system, {
      name: `PgBouncer, on ${transport}`,
      caller: await system.caller(roomy),
      lose: () => pooler.restart(),
    });
  });

  async function stageIs({ requestId }: Submitted, stage: string): Promise<boolean> {
    const rows = await system.sql('SELECT 1 FROM run WHERE id = $1 AND stage = $2', [requestId, stage]);
    return rows.length > 0;
  }
});

failOnLeftovers();
