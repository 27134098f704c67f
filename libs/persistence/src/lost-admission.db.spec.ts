import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { createDatabase, type TestDatabase } from '../../../test/harness/database.js';
import { failOnLeftovers } from '../../../test/harness/leftovers.js';
import { tcpProxy, type TcpProxy } from '../../../test/harness/tcp-proxy.js';
import { waitFor } from '../../../test/harness/wait-for.js';
import { AnswerLost } from './sql-errors.js';
import { holdWorkspace, TestProcess } from './testing/runs.js';

let testDatabase: TestDatabase;
let proxy: TcpProxy;
/** A gateway whose connections can be cut. */
let gateway: TestProcess;
let observer: TestProcess;
beforeAll(async () => {
  testDatabase = await createDatabase();
  const url = new URL(testDatabase.url);
  proxy = await tcpProxy({ port: Number(url.port), host: url.hostname });
  url.host = proxy.address;
  // How long a lost admission is looked up: enough for a busy machine. Some cases wait for all of it.
  gateway = new TestProcess(url.href, { DATABASE_ACQUIRE_MS: '5000' });
  observer = new TestProcess(testDatabase.url);
});
afterAll(async () => {
  await gateway.close();
  await observer.close();
  await proxy.close();
  await testDatabase.drop();
});
failOnLeftovers();

/** A workspace, and a gateway with an open connection. */
async function warmWorkspace(): Promise<string> {
  const { id } = await observer.workspace();
  await gateway.run(id);
  return id;
}

const cut = () => {
  proxy.set('reset');
  proxy.set('pass');
};

/** From now on statements reach the database, but their results are lost. */
async function losingAnswers(runId: string): Promise<void> {
  await waitFor(async () => (await observer.stageOf(runId)) !== undefined, {
    withinMs: 60_000,
    what: 'the admission to be carried out',
  });
  cut();
}

const waiting = (sessions: number) =>
  waitFor(async () => (await observer.waiting()) === sessions, {
    withinMs: 60_000,
    what: `${sessions} sessions to wait`,
  });

/** Begins a first use of the key that is never committed. Returns a function that ends it. */
async function holdKey(workspaceId: string, key: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: testDatabase.url, connectionTimeoutMillis: 20_000 });
  await client.connect();
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO idempotency_key (workspace_id, key, fingerprint, run_id, expires_at)
     VALUES ($1, $2, '', $3, router_now() + interval '1 day')`,
    [workspaceId, key, v7()],
  );
  return () => client.end();
}

const isLost = async (admitting: Promise<unknown>): Promise<boolean> => {
  const error: unknown = await admitting.then(
    () => 'admitted',
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ bucket: 'service_unavailable' });
  return error instanceof AnswerLost;
};

describe('an admission whose result was lost after it was carried out', () => {
  it('is found by the id of its run, and gets the same result', async () => {
    const id = await warmWorkspace();
    const runId = v7();
    proxy.set('half-open');
    const admitting = gateway.admit(id, { runId });
    await losingAnswers(runId);
    expect(await admitting).toEqual({ kind: 'admitted', runId, ready: true, position: 1 });
  });

  it('keeps its key, and a retry joins the run', async () => {
    const id = await warmWorkspace();
    const runId = v7();
    proxy.set('half-open');
    const admitting = gateway.admit(id, { runId, key: 'k' });
    await losingAnswers(runId);
    expect(await admitting).toMatchObject({ kind: 'admitted', runId });
    expect(await gateway.admit(id, { key: 'k' })).toMatchObject({ kind: 'existing', runId });
  });

  it('answers every run of its batch; a repeated request among them must retry', async () => {
    const id = await warmWorkspace();
    await gateway.run(id, { key: 'used' });
    const letGo = await holdWorkspace(testDatabase.url, id);
    const first = gateway.admit(id);
    await waiting(1);
    // An uncommitted use of a key delays the second batch until its result can no longer return.
    const letGoOfKey = await holdKey(id, 'elsewhere');
    const runIds = [v7(), v7(), v7()];
    const others = runIds.map((runId, index) =>
      gateway.admit(id, { runId, ...(index === 0 && { key: 'elsewhere' }) }),
    );
    const retry = isLost(gateway.admit(id, { key: 'used' }));
    await letGo();
    await first;
    await waiting(1);
    proxy.set('half-open');
    await letGoOfKey();
    await losingAnswers(runIds[0] ?? '');
    expect(await Promise.all(others)).toEqual(
      runIds.map((runId) => expect.objectContaining({ kind: 'admitted', runId })),
    );
    expect(await retry).toBe(false);
  });
});

describe('an admission that fails', () => {
  it('says that it may still be carried out; admissions that waited behind it were never sent', async () => {
    const id = await warmWorkspace();
    const letGo = await holdWorkspace(testDatabase.url, id);
    const runId = v7();
    const first = isLost(gateway.admit(id, { runId }));
    await waiting(1);
    const behind = isLost(gateway.admit(id));
    cut();
    expect(await Promise.all([first, behind])).toEqual([true, false]);
    expect(await observer.stageOf(runId)).toBeUndefined();
    await letGo();
    // The session commits although its client is gone.
    await waitFor(async () => (await observer.stageOf(runId)) === 'ready', {
      withinMs: 60_000,
      what: 'the statement to be carried out',
    });
  });

  it('was provably not carried out if no connection was available', async () => {
    const id = await warmWorkspace();
    proxy.set('reset');
    // The first admission may get a connection that is not yet known to be dead.
    await isLost(gateway.admit(id));
    expect(await isLost(gateway.admit(id))).toBe(false);
    proxy.set('pass');
    expect(await gateway.admit(id)).toMatchObject({ kind: 'admitted', position: 1 });
  });
});
