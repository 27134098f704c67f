import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { WorkspaceRepository } from '#persistence';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { System } from '../harness/faults.js';
import { harnessDatabase } from '../harness/long-timeouts.js';
import { failOnLeftovers, newTag, transports, waitFor } from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const model = 'bfl/flux-2-pro';

/** A text as a database, a store or a log may write it. */
const writings = (mark: string) => [
  mark,
  Buffer.from(mark).toString('hex'),
  // Base64 depends on the position of a text in its bytes, so the first and the last of three places are cut off.
  ...[0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + mark)
      .toString('base64')
      .slice(4, -4),
  ),
];

describe.each(transports())('the deletion of runs on %s', (transport) => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({ transport, env: { RETENTION_EVERY_MS: '300' } });
    caller = await system.caller({ resultRetentionSeconds: null }, undefined, ['run', 'requests', 'manage']);
  });
  afterAll(() => system.stop());

  /** The tables with the mark in a row, as a dump would write it. */
  async function inPostgres(mark: string): Promise<string[]> {
    const tables = await system.sql<{ name: string }>(
      `SELECT relname::text AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'm') AND NOT relispartition ORDER BY 1`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await system.sql(
        `SELECT 1 FROM "${name}" AS each WHERE each::text ILIKE ANY ($1) LIMIT 1`,
        [writings(mark).map((text) => `%${text}%`)],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  }

  function inStore(mark: string): string[] {
    return readdirSync(system.assets, { recursive: true })
      .map(String)
      .filter((name) => {
        const file = path.join(system.assets, name);
        return statSync(file).isFile() && readFileSync(file).includes(mark);
      });
  }

  /** The keys with the mark in their value, in any type of value. */
  async function inRedis(mark: string): Promise<string[]> {
    if (system.redis === undefined) return [];
    const redis = new Redis(system.redis.url);
    try {
      const found: string[] = [];
      for (const key of await redis.keys('*')) {
        const dumped = await redis.dumpBuffer(key);
        if (key.includes(mark) || dumped?.includes(mark)) found.push(key);
      }
      return found;
    } finally {
      redis.disconnect();
    }
  }

  const inLogs = (mark: string): string[] =>
    system.apps
      .filter((app) => writings(mark).some((text) => app.logs().includes(text)))
      .map(({ name }) => name);

  it('leaves no byte of a marked prompt in Postgres, Redis, the store or the logs', async () => {
    const mark = newTag('markedprompt');
    const large = 'x'.repeat(300 * 1024);
    const prompts = [mark, `${mark} ${large}`, `${mark} [[sim:job_failed]]`, `${mark} [[sim:poll_html=1]]`];
    const runs = await Promise.all(
      prompts.map((prompt) =>
        caller.submit(model, JSON.stringify({ prompt }), { headers: { 'idempotency-key': newTag('key') } }),
      ),
    );
    for (const run of runs) await caller.completed(run, 60_000);
    expect(await inPostgres(mark)).toContain('payload');
    expect(inStore(mark)).not.toEqual([]);

    const deletions = runs.map((run) => caller.call('DELETE', `/v2/requests/${run.requestId}`));
    expect((await Promise.all(deletions)).map(({ status }) => status)).toEqual(runs.map(() => 204));

    expect(await inPostgres(mark)).toEqual([]);
    expect(await inRedis(mark)).toEqual([]);
    expect(inStore(mark)).toEqual([]);
    expect(inLogs(mark)).toEqual([]);
    for (const { requestId } of runs) {
      const objects = await system.sql('SELECT 1 FROM stored_object WHERE owner_id = $1', [requestId]);
      expect(objects).toEqual([]);
    }
    const listed = (await caller.call('GET', '/v2/requests')).json()['data'] as object[];
    expect(listed).toHaveLength(runs.length);
    const collected = await Promise.all(runs.map((run) => caller.collect(run)));
    expect(collected.map(({ status }) => status)).toEqual(runs.map(() => 410));
  });

  it('removes the pieces of a stream, which are kept for late readers', async () => {
    const answer = await fetch(`${system.gateways[0]?.url}/v2/models/openai/gpt-5.5`, {
      method: 'POST',
      headers: { 'x-api-key': caller.key, 'content-type': 'application/json' },
      body: JSON.stringify({ input: newTag('streamed'), max_output_tokens: 100, stream: true }),
    });
    await answer.text();
    const runId = answer.headers.get('x-service-run-id') ?? '';
    const pieces = async () => {
      const rows = await system.sql('SELECT FROM stream_piece WHERE run_id = $1', [runId]);
      return rows.length + (await inRedis(runId)).length;
    };
    await system.ended(caller);
    expect(await pieces()).toBeGreaterThan(0);
    expect((await caller.call('DELETE', `/v2/requests/${runId}`)).status).toBe(204);
    expect(await pieces()).toBe(0);
  });

  it('follows a workspace’s own period without a call', async () => {
    const mark = newTag('ownperiod');
    const short = await system.caller({ resultRetentionSeconds: 1 }, undefined, ['run', 'requests']);
    const run = await short.submit(model, JSON.stringify({ prompt: `${mark} ${'x'.repeat(300 * 1024)}` }));
    await waitFor(async () => (await short.collect(run)).status === 410, {
      withinMs: 60_000,
      what: 'the result to be deleted',
      everyMs: 100,
    });
    await waitFor(() => inStore(mark).length === 0, {
      withinMs: 60_000,
      what: 'the store to be empty',
      everyMs: 100,
    });
    expect(await inPostgres(mark)).toEqual([]);
    const [row] = await system.sql<{ billed: string; entered: string }>(
      `SELECT (SELECT sum(billed_micros) FROM audit_record WHERE run_id = $1) AS billed,
         (SELECT -sum(amount_micros) FROM ledger_entry WHERE run_id = $1) AS entered`,
      [run.requestId],
    );
    expect(row?.billed).toBe(row?.entered);
  });

  it('of a workspace that was deleted leaves no byte, and its books stay', async () => {
    const mark = newTag('deletedspace');
    const kept = await system.caller({}, undefined, ['run', 'requests', 'manage']);
    const prompts = [mark, `${mark} ${'x'.repeat(300 * 1024)}`, `${mark} [[sim:job_failed]]`];
    const runs = await Promise.all(prompts.map((prompt) => kept.submit(model, JSON.stringify({ prompt }))));
    for (const run of runs) await kept.completed(run, 60_000);
    const first = runs[0]?.requestId ?? '';
    expect((await kept.call('PUT', `/v2/requests/${first}/kept`)).status).toBe(204);
    expect(await inPostgres(mark)).toContain('payload');
    const database = harnessDatabase(system.database.url);
    const isDeleted = await new WorkspaceRepository(database).delete(kept.workspaceId, 'test');
    await database.close();
    expect(isDeleted).toBe(true);
    const isGone = async () =>
      [await inPostgres(mark), await inRedis(mark), inStore(mark), inStore(first)].every(
        (places) => places.length === 0,
      );
    await waitFor(isGone, { withinMs: 60_000, what: 'the data of the workspace to be gone', everyMs: 200 });
    const books = await system.sql('SELECT FROM audit_record WHERE workspace_id = $1', [kept.workspaceId]);
    expect(books).toHaveLength(runs.length);
    await waitFor(
      async () =>
        (await system.sql('SELECT FROM workspace_erasure WHERE workspace_id = $1', [kept.workspaceId]))
          .length === 0,
      { withinMs: 60_000, what: 'the deletion to be done', everyMs: 200 },
    );
  });

  it('is finished by a worker if the store did not take part', async () => {
    const run = await caller.submit(model, JSON.stringify({ prompt: newTag('later') }));
    await caller.completed(run, 60_000);
    const asset = inStore('').find((name) => name.includes(run.requestId));
    expect(asset).toBeDefined();
    // As a gateway leaves it that was killed between the two steps.
    await system.sql('SELECT erase_run($1, $2, $3)', [caller.workspaceId, run.requestId, 'test']);
    await waitFor(() => !inStore('').some((name) => name.includes(run.requestId)), {
      withinMs: 60_000,
      what: 'the objects of the run to be deleted',
      everyMs: 100,
    });
  });
});

failOnLeftovers();
