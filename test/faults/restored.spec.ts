import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { answerOf } from '../admin/run-admin.js';
import { holdToInvariants, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  longTimeouts,
  newTag,
  Receiver,
  status,
  storedFiles,
  type Submitted,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { redisCommand } from './redis-side.js';
import { death, dismissWorkers, quick } from './worker-faults.js';

const model = 'bfl/flux-2-pro';

interface State {
  /** At the restored moment; undefined for a run that is submitted later. */
  stage?: string;
  input: string;
  /** How the result is answered in the end. */
  status: number;
  billed?: true;
}

const large = 'x'.repeat(300_000);
/** The states of the table in docs/operations/backup.md, each with one run. */
const states = {
  running: { stage: 'running', input: unending, status: 200, billed: true },
  /** Finishes before the restore, and is collected. */
  later: { stage: 'running', input: unending, status: 200, billed: true },
  copying: { stage: 'copying', input: '', status: 200, billed: true },
  /** Its webhook is delivered before the restore. */
  notified: { stage: 'completed', input: '', status: 200, billed: true },
  unknown: { stage: 'submitting', input: '', status: 500 },
  waiting: { stage: 'ready', input: large, status: 500 },
  parked: { stage: 'parked', input: '', status: 500 },
  parkedBehind: { stage: 'parked', input: '', status: 500 },
  lost: { input: large, status: 404 },
} satisfies Record<string, State>;
type Name = keyof typeof states;
const all: Readonly<Record<Name, State>> = states;
const names = Object.keys(states) as Name[];
const kept = names.filter((name) => all[name].stage !== undefined);
const presumed = names.filter((name) => ['ready', 'parked'].includes(all[name].stage ?? ''));

/**
 * Postgres goes back to an earlier moment, by the steps of docs/operations/backup.md, while providers, asset store and
 * callers have moved on. The backup is a copy of the stopped cluster.
 */
describe.each(transports())('a database that was restored from a backup, on %s', (transport) => {
  const tag = newTag('restored');
  const runs = {} as Record<Name, Submitted>;
  let system: System;
  let receiver: Receiver;
  let caller: TestCaller;
  let deliveredBefore: number;

  beforeAll(async () => {
    receiver = await Receiver.start();
    receiver.paths.set('/', status(503));
    system = await System.start({
      transport,
      workers: 0,
      ownPostgres: true,
      env: {
        ...longTimeouts,
        ...quick,
        WEBHOOK_ALLOWED_ORIGINS: receiver.url,
        // Longer than the workers that must not give up the run whose outcome is unknown.
        CLAIM_LEASE_MS: '20000',
        RETENTION_EVERY_MS: '300',
      },
    });
    caller = await system.caller({ inflightLimit: 5, windowLimit: 100_000 });
  });
  afterAll(async () => {
    await system.stop();
    await receiver.stop();
  });

  it('has a run in every state, and all go on after the backup', async () => {
    await system.startWorker();
    for (const name of ['running', 'later', 'notified'] as const) await submit(name);
    await reach('running', ['running', 'later']);
    await waitFor(async () => (await webhook()).tries > 0, { withinMs: 60_000, what: 'a failed webhook' });
    await dismissWorkers(system);
    const submitter = await system.startWorker({ FAILPOINT: 'dispatch.afterSubmit:kill' });
    await submit('unknown');
    await death(system, submitter);
    // The last worker, because the next one would make the copies.
    const copier = await system.startWorker({ FAILPOINT: 'copying.beforePut:kill' });
    await submit('copying');
    await death(system, copier);
    for (const name of ['waiting', 'parked', 'parkedBehind'] as const) await submit(name);
    expect(await stages(kept)).toEqual(kept.map((name) => all[name].stage));
    expect(await webhook()).toMatchObject({ delivered: false });
    const [moment] = await system.sql<{ now: Date }>('SELECT now()');
    await system.postgres.kill('SIGQUIT');
    await copy('postgres', 'backup');
    await system.postgres.restart();
    await waitFor(async () => (await caller.status(runs.waiting)).status === 200, {
      withinMs: 60_000,
      what: 'the gateway to serve again',
    });

    // All this is forgotten by the restore.
    receiver.paths.clear();
    await submit('lost');
    await system.startWorker();
    // A run whose outcome is unknown ends with its lease, which lasts longer than this.
    await reach(
      'completed',
      names.filter((name) => name !== 'unknown'),
      () => system.provider.finish(tag),
    );
    expect((await caller.collect(runs.later)).status).toBe(200);
    await waitFor(
      async () => {
        await system.sql(`UPDATE webhook SET due_at = router_now() WHERE ended_at IS NULL`);
        return (await webhook()).delivered;
      },
      { withinMs: 60_000, what: 'the webhook to be delivered', everyMs: 500 },
    );
    deliveredBefore = receiver.calls.length;
    await answerOf(system.env(), 'credits', 'add', '--workspace', caller.workspace, '--cents', '500');
    const { changes } = await answerOf<{ changes: object[] }>(
      system.env(),
      'restore',
      'changes',
      '--since',
      moment?.now.toISOString() ?? '',
    );
    expect(changes).toMatchObject([{ action: 'workspace.change', details: { addedMicros: 5_000_000 } }]);
  });

  it('presumes that its waiting runs were submitted', async () => {
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
    // A real restore takes longer than this one: by its rows, no process is running.
    await waitFor(
      async () => {
        await system.sql(`UPDATE process SET seen_at = seen_at - interval '10 minutes'`);
        return true;
      },
      { withinMs: 60_000, what: 'connections to the restored Postgres' },
    );
    await system.sql(`UPDATE webhook SET due_at = router_now() WHERE ended_at IS NULL`);
    await answerOf(system.env(), 'migrate');
    expect(await answerOf(system.env(), 'restore', 'runs', '--yes')).toEqual({ runs: presumed.length });
    await system.startGateway({}, { port: gateway.port });
    await system.startWorker();
  });

  it('delivers a forgotten webhook again, with the same id', async () => {
    await waitFor(() => receiver.calls.length > deliveredBefore, {
      withinMs: 60_000,
      what: 'the webhook to be delivered again',
    });
    expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('submits no input twice, also when callers retry with their keys, and ends every run as the guide says', async () => {
    for (const name of kept) {
      const before = runs[name].requestId;
      await submit(name);
      expect([name, runs[name].requestId]).toEqual([name, before]);
    }
    await system.ended(caller, 120_000);
    const ledger = await system.provider.ledger(tag);
    for (const name of names) {
      const answer = await caller.collect(runs[name]);
      const submissions = ledger.filter(({ prompt }) => prompt.startsWith(`${name} `)).length;
      expect([name, answer.status, submissions]).toEqual([name, all[name].status, 1]);
      const says = answer.status === 500 ? String(answer.json()['detail']) : 'Outcome unknown';
      expect(says).toContain('Outcome unknown');
    }
    expect(ledger).toHaveLength(names.length);
    const billed = await system.sql<{ run: string }>(
      'SELECT run_id AS run FROM audit_record WHERE billed_micros > 0',
    );
    expect(billed.map(({ run }) => run).toSorted()).toEqual(
      names
        .filter((name) => all[name].billed)
        .map((name) => runs[name].requestId)
        .toSorted(),
    );
  });

  it('deletes the objects that no row names, and nothing else', async () => {
    const find = ['restore', 'objects', '--older-than-hours', '0'];
    const found = await answerOf<{ listed: { key: string }[] }>(system.env(), ...find);
    const keys = found.listed.map(({ key }) => key);
    expect(keys).toContain(`runs/${runs.lost.requestId}/input`);
    expect(keys.toSorted()).toEqual(await unknownFiles());
    expect(await answerOf(system.env(), ...find, '--delete', '--yes')).toMatchObject({
      deleting: keys.length,
    });
    await waitFor(() => !keys.some((key) => existsSync(path.join(system.assets, key))), {
      withinMs: 60_000,
      what: 'the orphaned objects to be deleted',
    });
    expect(existsSync(path.join(system.assets, `runs/${runs.waiting.requestId}/input`))).toBe(true);
    await holdToInvariants(system, 60_000, [runs.lost]);
  });

  async function submit(name: Name): Promise<void> {
    runs[name] = await caller.submit(
      model,
      JSON.stringify({ prompt: `${name} [[sim:tag=${tag}]] ${all[name].input}` }),
      {
        query: name === 'notified' ? `?webhook_url=${encodeURIComponent(receiver.url)}` : '',
        headers: { 'idempotency-key': `${tag}-${name}` },
      },
    );
  }

  const stages = (of: readonly Name[]): Promise<(string | undefined)[]> =>
    Promise.all(
      of.map(async (name) => {
        const { requestId } = runs[name];
        const rows = await system.sql<{ stage: string }>('SELECT stage FROM run WHERE id = $1', [requestId]);
        return rows[0]?.stage;
      }),
    );
  const reach = (stage: string, of: readonly Name[], meanwhile: () => unknown = () => {}) =>
    waitFor(
      async () => {
        await meanwhile();
        return (await stages(of)).every((each) => each === stage);
      },
      { withinMs: 120_000, what: `${of.join(', ')} to be ${stage}`, everyMs: 200 },
    );

  async function webhook(): Promise<{ tries: number; delivered: boolean }> {
    const [row] = await system.sql<{ tries: number; delivered: boolean }>(
      'SELECT tries, delivered FROM webhook WHERE run_id = $1',
      [runs.notified.requestId],
    );
    return row ?? { tries: 0, delivered: false };
  }

  /** The stored objects without a row, found without the command. */
  async function unknownFiles(): Promise<string[]> {
    const rows = await system.sql<{ key: string }>('SELECT key FROM stored_object');
    const known = new Set(rows.map(({ key }) => key));
    return storedFiles(system.assets)
      .filter((key) => !known.has(key) && !key.includes('~'))
      .toSorted();
  }

  const copy = (from: string, to: string) =>
    promisify(execFile)('cp', ['-a', ...[from, to].map((name) => path.join(system.postgres.folder, name))]);
});

failOnLeftovers();
