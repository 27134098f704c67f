import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { answerOf } from '../admin/run-admin.js';
import { holdToInvariants, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  longTimeouts,
  newTag,
  Receiver,
  type Submitted,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { redisCommand } from './redis-side.js';
import { death, dismissWorkers, quick } from './worker-faults.js';

const model = 'bfl/flux-2-pro';

/** The states of the table in docs/operations/backup.md, each with one run. */
const names = ['waiting', 'unknown', 'running', 'later', 'copying', 'notified', 'lost'] as const;
type Name = (typeof names)[number];

/**
 * Runs in every state at the moment that is restored. Until the restore they go on: waiting runs are submitted, a run
 * finishes and is collected, and a webhook arrives. The backup is a copy of the stopped cluster.
 */
describe.each(transports().slice(0, 1))('after a restore, on %s', (transport) => {
  const tag = newTag('states');
  const runs = {} as Record<Name, Submitted>;
  let system: System;
  let receiver: Receiver;
  let caller: TestCaller;
  let isReceiving = false;

  beforeAll(async () => {
    receiver = await Receiver.start((_call, response) => response.writeHead(isReceiving ? 204 : 503).end());
    system = await System.start({
      transport,
      workers: 0,
      ownPostgres: true,
      env: {
        ...longTimeouts,
        ...quick,
        WEBHOOK_ALLOWED_ORIGINS: receiver.url,
        CLAIM_LEASE_MS: '60000',
        RETENTION_EVERY_MS: '300',
      },
    });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await receiver.stop();
  });

  it('every run in flight ends, as the guide says', async () => {
    const first = await system.startWorker();
    await submit('running', unending);
    await submit('later', unending);
    await submit('notified', '', `?webhook_url=${encodeURIComponent(receiver.url)}`);
    await reaches('running', 'running');
    await reaches('later', 'running');
    await waitFor(async () => (await webhook()).tries > 0, { withinMs: 60_000, what: 'a failed webhook' });
    system.forget(first);
    await first.stop();

    const copier = await system.startWorker({ FAILPOINT: 'copying.beforePut:kill' });
    await submit('copying');
    await death(system, copier);
    const submitter = await system.startWorker({ FAILPOINT: 'dispatch.afterSubmit:kill' });
    await submit('unknown');
    await death(system, submitter);
    await submit('waiting');
    expect(await stages()).toEqual({
      waiting: 'ready',
      unknown: 'submitting',
      running: 'running',
      later: 'running',
      copying: 'copying',
      notified: 'completed',
    });
    expect(await webhook()).toMatchObject({ delivered: false });
    await system.postgres.kill('SIGQUIT');
    await copy('postgres', 'backup');
    await system.postgres.restart();

    // All this is forgotten by the restore.
    isReceiving = true;
    await submit('lost');
    await system.startWorker();
    await reaches('waiting', 'completed');
    await reaches('lost', 'completed');
    await system.provider.finish(tag);
    await reaches('later', 'completed');
    expect((await caller.collect(runs.later)).status).toBe(200);
    await waitFor(
      async () => {
        await system.sql(`UPDATE webhook SET due_at = router_now() WHERE ended_at IS NULL`);
        return (await webhook()).delivered;
      },
      { withinMs: 60_000, what: 'the webhook to be delivered', everyMs: 500 },
    );
    const deliveredBefore = receiver.calls.length;

    await restore();
    await waitFor(() => receiver.calls.length > deliveredBefore, {
      withinMs: 60_000,
      what: 'the webhook to be delivered again',
    });
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await system.ended(caller, 120_000);

    const answers = {} as Record<Name, { status: number; submissions: number }>;
    const ledger = await system.provider.ledger(tag);
    for (const name of names) {
      const submissions = ledger.filter(({ prompt }) => prompt.startsWith(`${name} `)).length;
      answers[name] = { status: (await caller.collect(runs[name])).status, submissions };
    }
    process.stdout.write(`${JSON.stringify(answers)}\n`);
    expect(answers).toEqual({
      waiting: { status: 500, submissions: 1 },
      unknown: { status: 500, submissions: 1 },
      running: { status: 200, submissions: 1 },
      later: { status: 200, submissions: 1 },
      copying: { status: 200, submissions: 1 },
      notified: { status: 200, submissions: 1 },
      lost: { status: 404, submissions: 1 },
    });
    for (const name of ['waiting', 'unknown'] as const)
      expect((await caller.collect(runs[name])).json()['detail']).toContain('Outcome unknown');
    const billed = await system.sql<{ run: string }>(
      'SELECT run_id AS run FROM audit_record WHERE billed_micros > 0',
    );
    expect(billed.map(({ run }) => run).toSorted()).toEqual(
      (['running', 'later', 'copying', 'notified'] as const).map((name) => runs[name].requestId).toSorted(),
    );
    // Assets that were stored after the restored moment have no row, nor have those of lost runs.
    await answerOf(system.env(), 'restore', 'objects', '--older-than-hours', '0', '--delete', '--yes');
    await holdToInvariants(system, 60_000, [runs.lost]);
  });

  async function submit(name: Name, rest = '', query = ''): Promise<void> {
    const body = JSON.stringify({ prompt: `${name} [[sim:tag=${tag}]] ${rest}` });
    runs[name] = await caller.submit(model, body, {
      query,
      headers: { 'idempotency-key': `${tag}-${name}` },
    });
  }

  const stageOf = async (name: Name) =>
    (await system.sql<{ stage: string }>('SELECT stage FROM run WHERE id = $1', [runs[name].requestId]))[0]
      ?.stage;
  const reaches = (name: Name, stage: string) =>
    waitFor(async () => (await stageOf(name)) === stage, {
      withinMs: 90_000,
      what: `the run ${name} to be ${stage}`,
      everyMs: 100,
    });
  async function stages(): Promise<Record<string, string | undefined>> {
    const found = await Promise.all(
      names.map(async (name) => [name, name in runs ? await stageOf(name) : undefined] as const),
    );
    return Object.fromEntries(found.filter(([, stage]) => stage !== undefined));
  }
  async function webhook(): Promise<{ tries: number; delivered: boolean }> {
    const [row] = await system.sql<{ tries: number; delivered: boolean }>(
      'SELECT tries, delivered FROM webhook WHERE run_id = $1',
      [runs.notified.requestId],
    );
    return row ?? { tries: 0, delivered: false };
  }

  /** The steps of docs/operations/backup.md. */
  async function restore(): Promise<void> {
    await dismissWorkers(system);
    const [gateway] = system.gateways;
    if (!gateway) throw new Error('no gateway runs');
    system.forget(gateway);
    await gateway.stop();
    await system.postgres.kill('SIGQUIT');
    rmSync(path.join(system.postgres.folder, 'postgres'), { recursive: true });
    await copy('backup', 'postgres');
    await system.postgres.restart();
    if (system.redis) await redisCommand(system.redis.url, 'FLUSHALL');
    // A real restore takes longer than this one: by its rows, no process is running and every lease has lapsed.
    await waitFor(
      async () => {
        await system.sql(`UPDATE process SET seen_at = seen_at - interval '10 minutes'`);
        return true;
      },
      { withinMs: 60_000, what: 'connections to the restored Postgres' },
    );
    await system.sql(`UPDATE webhook SET due_at = router_now() WHERE ended_at IS NULL`);
    await answerOf(system.env(), 'migrate');
    expect(await answerOf(system.env(), 'restore', 'runs', '--yes')).toEqual({ runs: 1 });
    await system.startGateway({}, { port: gateway.port });
    await system.startWorker();
  }

  const copy = (from: string, to: string) =>
    promisify(execFile)('cp', ['-a', ...[from, to].map((name) => path.join(system.postgres.folder, name))]);
});

failOnLeftovers();
