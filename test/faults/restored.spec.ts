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
const large = 'x'.repeat(300_000);

const keyOf = (body: string) => {
  const { prompt } = JSON.parse(body) as { prompt: string };
  return { 'idempotency-key': prompt.slice(0, prompt.indexOf(' ')) };
};

/**
 * Postgres goes back to an earlier moment, by the steps of docs/operations/backup.md, while providers, asset
 * store and callers have moved on. The backup is a copy of the stopped cluster.
 */
describe.each(transports())('a database that was restored from a backup, on %s', (transport) => {
  const tag = newTag('restored');
  let system: System;
  let caller: TestCaller;
  // At the restored moment, and after it.
  let running: Submitted[];
  let waiting: Submitted[];
  let lost: Submitted[];

  beforeAll(async () => {
    system = await System.start({
      transport,
      ownPostgres: true,
      env: { ...longTimeouts, RETENTION_EVERY_MS: '300' },
    });
    caller = await system.caller({ inflightLimit: 4, windowLimit: 100_000 });
  });
  afterAll(() => system.stop());

  it('has running and waiting runs, all of which are submitted after the backup', async () => {
    running = await Promise.all(['a', 'b'].map((name) => submit(name, unending)));
    await waitFor(async () => (await stages()).filter((stage) => stage === 'running').length === 2, {
      withinMs: 60_000,
      what: 'two runs to be in progress',
    });
    await dismissWorkers(system);
    waiting = await Promise.all(
      Array.from({ length: 5 }, (_, nth) => submit(`waiting-${nth}`, nth === 0 ? large : '')),
    );
    expect((await stages()).toSorted()).toEqual([
      'parked',
      'parked',
      'parked',
      'ready',
      'ready',
      'running',
      'running',
    ]);
    const [moment] = await system.sql<{ now: Date }>('SELECT now()');
    await system.postgres.kill('SIGQUIT');
    await copy('postgres', 'backup');
    await system.postgres.restart();
    await waitFor(async () => (await status(running[0])).status === 200, {
      withinMs: 60_000,
      what: 'the gateway to serve again',
    });

    lost = await Promise.all(Array.from({ length: 2 }, (_, nth) => submit(`lost-${nth}`, large)));
    await system.startWorker();
    const all = running.length + waiting.length + lost.length;
    await waitFor(
      async () => {
        await system.provider.finish(tag);
        return (await system.provider.ledger(tag)).length === all;
      },
      { withinMs: 60_000, what: 'all runs to be submitted', everyMs: 200 },
    );
    await system.provider.finish(tag);
    await system.ended(caller);
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
    await answerOf(system.env(), 'migrate');
    expect(await answerOf(system.env(), 'restore', 'runs', '--yes')).toEqual({ runs: waiting.length });
    await system.startWorker();
    await system.startGateway({}, { port: gateway.port });
  });

  it('submits no input twice when callers retry with their keys', async () => {
    for (const { requestId, body } of [...running, ...waiting]) {
      const retried = await caller.submit(model, body, { headers: keyOf(body) });
      expect(retried.requestId).toBe(requestId);
    }
    await system.ended(caller);
    for (const run of running) expect((await caller.collect(run)).status).toBe(200);
    for (const run of waiting) {
      const answer = await caller.collect(run);
      expect([answer.status, answer.bucket]).toEqual([500, 'internal_error']);
      expect(answer.json()['detail']).toContain('Outcome unknown');
    }
    const paid = (await system.provider.ledger(tag)).map(({ bodySha256 }) => bodySha256);
    const distinct = new Set(paid).size;
    process.stdout.write(`on ${transport}: ${paid.length - distinct} of ${distinct} inputs paid twice\n`);
    expect([paid.length, distinct]).toEqual([9, 9]);
  });

  it('deletes the objects that no row names, and nothing else', async () => {
    const find = ['restore', 'objects', '--older-than-hours', '0'];
    const found = await answerOf<{ listed: { key: string }[] }>(system.env(), ...find);
    const keys = found.listed.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(lost.map(({ requestId }) => `runs/${requestId}/input`)));
    expect(keys.toSorted()).toEqual(await unknownFiles());
    process.stdout.write(`on ${transport}: ${keys.length} objects without a row\n`);
    expect(await answerOf(system.env(), ...find, '--delete', '--yes')).toMatchObject({
      deleting: keys.length,
    });
    await waitFor(() => !keys.some((key) => existsSync(path.join(system.assets, key))), {
      withinMs: 60_000,
      what: 'the orphaned objects to be deleted',
    });
    expect(existsSync(path.join(system.assets, `runs/${waiting[0]?.requestId}/input`))).toBe(true);
    await holdToInvariants(system, 60_000, lost);
  });

  function submit(name: string, rest: string): Promise<Submitted> {
    const body = JSON.stringify({ prompt: `${name} [[sim:tag=${tag}]] ${rest}` });
    return caller.submit(model, body, { headers: keyOf(body) });
  }

  const status = (run: Submitted | undefined) => caller.status(run ?? { requestId: '', model, body: '' });

  const stages = async (): Promise<string[]> =>
    (await system.sql<{ stage: string }>('SELECT stage FROM run')).map(({ stage }) => stage);

  /** The stored objects without a row, found without the command. */
  async function unknownFiles(): Promise<string[]> {
    const rows = await system.sql<{ key: string }>('SELECT key FROM stored_object');
    const known = new Set(rows.map(({ key }) => key));
    return readdirSync(system.assets, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(system.assets, path.join(entry.parentPath, entry.name)))
      .filter((key) => !known.has(key) && !key.includes('~'))
      .toSorted();
  }

  const copy = (from: string, to: string) =>
    promisify(execFile)('cp', ['-a', ...[from, to].map((name) => path.join(system.postgres.folder, name))]);
});

failOnLeftovers();
