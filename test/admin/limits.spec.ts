import { AdmissionRepository } from '#persistence';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { plainFacts } from './finished-runs.js';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

interface LimitsDocument {
  granted?: string[];
}

const costMicros = 1_000_000;

const { env, database } = await ownDatabase();
const stages = async () =>
  (await database.work.query<{ stage: string }>('SELECT stage FROM run ORDER BY id')).map(
    ({ stage }) => stage,
  );

describe('admin workspace limits', () => {
  const parked: string[] = [];

  beforeAll(async () => {
    const { id } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme');
    await answerOf(env, 'workspace', 'limits', 'acme', '--inflight', '0');
    const admissions = new AdmissionRepository(database);
    for (let count = 0; count < 3; count += 1) parked.push(await park(admissions, id));
  });

  it('shows the current use of each limit', async () => {
    expect(await answerOf(env, 'workspace', 'limits', 'acme')).toMatchObject({
      name: 'acme',
      limits: {
        inflight: { limit: 0, current: 0 },
        committed_spend_cents: { limit: 10_000, current: 0 },
        backlog: { limit: 1000, current: 3 },
        runs_per_minute: { limit: 600 },
        files: { limit: 1000, current: 0 },
        file_bytes: { limit: 10_737_418_240, current: 0 },
      },
      credits_cents: 10_000,
      held_cents: 300,
    });
  });

  it('grants slots to parked runs at once, in order, when the limit is raised', async () => {
    const changed = await answerOf<LimitsDocument>(env, 'workspace', 'limits', 'acme', '--inflight', '1');
    expect(changed).toMatchObject({
      limits: { inflight: { limit: 1, current: 1 }, backlog: { current: 2 } },
      granted: [parked[0]],
    });
    expect(await stages()).toEqual(['ready', 'parked', 'parked']);
  });

  it('keeps the first run waiting until its spend fits too', async () => {
    const options = ['--inflight', '5', '--committed-cents', '200'];
    const changed = await answerOf<LimitsDocument>(env, 'workspace', 'limits', 'acme', ...options);
    expect(changed.granted).toEqual([parked[1]]);
    expect(await stages()).toEqual(['ready', 'ready', 'parked']);
  });

  it('leaves the runs waiting for workers, and says so', async () => {
    const { code, out } = await runAdmin(env, 'workspace', 'limits', 'acme', '--committed-cents', '300');
    expect(code).toBe(0);
    expect(out).toContain('1 parked run(s) were granted a slot. Workers take them within a second or two.');
    const rows = await database.work.query<{ id: string }>(
      `SELECT run_id AS id FROM outbox WHERE queue = 'dispatch' AND waiting ORDER BY run_id`,
    );
    expect(rows.map(({ id }) => id)).toEqual(parked);
  });

  it.each([[['acme', '--inflight', '-1']], [['acme', '--window', 'many']], [[]]])(
    'exits with 2 for bad usage %j',
    async (words) => {
      expect((await runAdmin(env, 'workspace', 'limits', ...words)).code).toBe(2);
    },
  );

  it('exits with 1 for an unknown workspace', async () => {
    expect(await runAdmin(env, 'workspace', 'limits', 'nobody', '--inflight', '1')).toEqual({
      code: 1,
      out: '',
      error: 'error: There is no workspace "nobody".\n',
    });
  });
});

async function park(admissions: AdmissionRepository, workspaceId: string): Promise<string> {
  const runId = v7();
  const admitted = await admissions.admitRun({
    runId,
    workspaceId,
    model: 'bfl/flux-pro-1.1',
    provider: 'bfl',
    mode: 'queued',
    facts: plainFacts,
    reservedMicros: costMicros,
    computedMicros: costMicros,
    credential: 'test',
    call: { requestId: v7(), route: 'test', origin: 'http://127.0.0.1' },
    body: Buffer.from('{}'),
  });
  expect(admitted).toMatchObject({ kind: 'admitted', ready: false });
  return runId;
}
