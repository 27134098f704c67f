import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { answerOf } from '../admin/run-admin.js';
import { holdToInvariants, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  longTimeouts,
  newTag,
  type Submitted,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { redisCommand } from './redis-side.js';
import { dismissWorkers } from './worker-faults.js';

const model = 'bfl/flux-2-pro';

/**
 * Postgres goes back to an earlier moment, by the steps of docs/operations/backup.md, while partners, asset store and
 * callers have gone on. A copy of the stopped cluster is the backup.
 */
describe.each(transports())('a database that was restored from a backup, on %s', (transport) => {
  const tag = newTag('restored');
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({
      transport,
      ownPostgres: true,
      env: { ...longTimeouts, RETENTION_EVERY_MS: '300' },
    });
    caller = await system.caller({ inflightLimit: 4, windowLimit: 100_000 });
  });
  afterAll(() => system.stop());

  it('pays for no input twice when callers retry with their keys, and loses what only the store still has', async () => {
    const running = await Promise.all(['a', 'b'].map((name) => submit(name, unending)));
    await waitFor(async () => (await stages()).filter((stage) => stage === 'running').length === 2, {
      withinMs: 30_000,
      what: 'two runs to run',
    });
    await dismissWorkers(system);
    const waiting = await Promise.all(
      Array.from({ length: 5 }, (_, nth) => submit(`waiting-${nth}`, nth === 0 ? large : '')),
    );
    expect((await stages()).toSorted()).toEqual([
      ...Array<string>(3).fill('parked'),
      ...Array<string>(2).fill('ready'),
      ...Array<string>(2).fill('running'),
    ]);
    const [{ now: moment = new Date() } = {}] = await system.sql<{ now: Date }>('SELECT now()');
    await system.postgres.kill('SIGQUIT');
    await copy('postgres', 'backup');
    await system.postgres.restart();
    await waitFor(async () => (await caller.status(running[0] as Submitted)).status === 200, {
      withinMs: 30_000,
      what: 'the gateway to serve again',
    });

    // What will be lost.
    const lost = await Promise.all(Array.from({ length: 2 }, (_, nth) => submit(`lost-${nth}`, large)));
    const all = running.length + waiting.length + lost.length;
    await system.startWorker();
    await waitFor(async () => (await system.partner.ledger(tag)).length === all, {
      withinMs: 60_000,
      what: 'all runs to be submitted',
      everyMs: 200,
    }).finally(() => system.partner.finish(tag));
    await system.ended(caller);
    const env = { ...system.env() };
    await answerOf(env, 'credits', 'add', '--workspace', caller.workspace, '--cents', '500');
    const { changes } = await answerOf<{ changes: { action: string; details: object }[] }>(
      env,
      ...['restore', 'changes', '--since', moment.toISOString()],
    );
    expect(changes).toMatchObject([{ action: 'workspace.change', details: { addedMicros: 5_000_000 } }]);

    await dismissWorkers(system);
    const [gateway] = system.gateways;
    if (!gateway) throw new Error('There is no gateway');
    system.forget(gateway);
    await gateway.stop();
    await system.postgres.kill('SIGQUIT');
    rmSync(path.join(system.postgres.folder, 'postgres'), { recursive: true });
    await copy('backup', 'postgres');
    await system.postgres.restart();
    if (system.redis) await redisCommand(system.redis.url, 'FLUSHALL');
    // A restore takes longer than this one: nobody who ran at the restored moment seems to run still.
    await reconnected(`UPDATE process SET seen_at = seen_at - interval '10 minutes'`);
    await answerOf(env, 'migrate');
    expect(await answerOf(env, 'restore', 'runs', '--yes')).toEqual({ runs: waiting.length });
    await system.startWorker();
    await system.startGateway({}, { port: gateway.port });

    for (const [nth, { requestId, body }] of [...running, ...waiting].entries()) {
      const retried = await caller.submit(model, body, { headers: keyOf(body) });
      expect(retried.requestId).toBe(requestId);
      const status = await caller.completed(retried, 60_000);
      expect(status['error_type']).toBe(nth < running.length ? undefined : 'internal_error');
    }
    const refused = await caller.collect(waiting[0] as Submitted);
    expect([refused.status, refused.json()['detail']]).toEqual([
      500,
      expect.stringContaining('Outcome unknown'),
    ]);
    const paid = (await system.partner.ledger(tag)).map(({ bodySha256 }) => bodySha256);
    const paidTwice = paid.length - new Set(paid).size;
    expect([paid.length, paidTwice]).toEqual([all, 0]);

    const find = ['restore', 'objects', '--older-than-hours', '0'];
    const found = await answerOf<{ objects: number; listed: { key: string }[] }>(env, ...find);
    const keys = found.listed.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(lost.map(({ requestId }) => `runs/${requestId}/input`)));
    expect(keys.toSorted()).toEqual(await unknownFiles());
    process.stdout.write(
      `on ${transport}: ${paidTwice} of ${paid.length} inputs paid twice, ${found.objects} objects without rows\n`,
    );
    expect(await answerOf(env, ...find, '--delete', '--yes')).toMatchObject({ deleting: found.objects });
    await waitFor(() => !keys.some((key) => existsSync(path.join(system.assets, key))), {
      withinMs: 60_000,
      what: 'the objects of what was lost to be deleted',
    });
    expect(existsSync(path.join(system.assets, `runs/${waiting[0]?.requestId}/input`))).toBe(true);
    await holdToInvariants(system, 60_000, lost);
  });

  const large = 'x'.repeat(300_000);

  const keyOf = (body: string) => ({
    'idempotency-key': (JSON.parse(body) as { prompt: string }).prompt.slice(0, 60).replaceAll(' ', '-'),
  });

  function submit(name: string, rest: string): Promise<Submitted> {
    const body = JSON.stringify({ prompt: `${name} [[sim:tag=${tag}]] ${rest}` });
    return caller.submit(model, body, { headers: keyOf(body) });
  }

  const stages = async (): Promise<string[]> =>
    (await system.sql<{ stage: string }>('SELECT stage FROM run')).map(({ stage }) => stage);

  /** What lies in the store and has no row, by a look of our own. */
  async function unknownFiles(): Promise<string[]> {
    const rows = await system.sql<{ key: string }>('SELECT key FROM stored_object');
    const known = new Set(rows.map(({ key }) => key));
    return readdirSync(system.assets, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes('~'))
      .map((entry) => path.relative(system.assets, path.join(entry.parentPath, entry.name)))
      .filter((key) => !known.has(key) && !key.startsWith('~'))
      .toSorted();
  }

  const copy = (from: string, to: string) =>
    promisify(execFile)('cp', ['-a', ...[from, to].map((name) => path.join(system.postgres.folder, name))]);

  /** On connections of which each still has to find out that its server was ended. */
  const reconnected = (text: string) =>
    waitFor(
      async () => {
        await system.sql(text);
        return true;
      },
      { withinMs: 30_000, what: 'Postgres to answer' },
    );
});

failOnLeftovers();
