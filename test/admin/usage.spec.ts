import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  unending,
  failOnLeftovers,
  holdToInvariants,
  type Submitted,
  System,
  temporaryFolder,
  transports,
  waitFor,
} from '../harness/index.js';
import { answerOf, exportedLines, runAdmin } from './run-admin.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

interface UsageDocument {
  request_id: string;
  run_id: string;
  credential: string;
  key_prefix: string | null;
  model: string;
  route: string;
  outcome: string;
  bucket: string | null;
  status: number;
  admitted_at: string;
  completed_at: string;
  latency_ms: number;
  cost_cents: number;
  billed_cents: number;
  caller_left: boolean;
}

const row = (name: string, charges: string) =>
  `id: bfl/${name}\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: ${charges}\nprice: { call: 70001 }\n`;
const priceCents = 7.0001;

const until = (what: string, condition: () => Promise<boolean>) =>
  waitFor(condition, { withinMs: 30_000, what });
const prompt = (text: string) => JSON.stringify({ prompt: text });

describe.each(transports().slice(0, 1))('what runs cost, after a mix of outcomes on %s', (transport) => {
  let system: System;
  let caller: TestCaller;
  let env: Record<string, string>;
  /** The runs' outcomes by what was done, with whether each is billed. */
  const expected = new Map<string, boolean>();

  const sync = (model: string, text: string, headers: Record<string, string> = {}) =>
    caller.call('POST', `/v2/models/${model}`, { body: prompt(text), headers });
  const note = (what: string, billed: boolean) => expected.set(what, billed);

  beforeAll(async () => {
    const directory = temporaryFolder('catalog');
    for (const charges of ['yes', 'no', 'unknown'])
      writeFileSync(path.join(directory, `${charges}.yaml`), row(`charges-${charges}`, charges));
    system = await System.start({ transport, env: { CATALOG_DIR: directory } });
    env = { DATABASE_URL: system.database.url, JWT_SECRET: system.env()['JWT_SECRET'] ?? '' };
    caller = await system.caller({ inflightLimit: 50 });
    await answerOf(env, 'credits', 'add', caller.workspace, '--cents', '1000', '--note', 'paid');
  });
  afterAll(() => system.stop());

  it('ends runs in every way there is', async () => {
    expect((await sync('bfl/charges-no', 'held')).status).toBe(200);
    note('held', true);
    const queued = await caller.submit('bfl/charges-no', prompt('queued'));
    await caller.completed(queued);
    note('queued', true);
    for (const [charges, billed] of [
      ['yes', true],
      ['no', false],
      ['unknown', false],
    ] as const) {
      const refused = await sync(`bfl/charges-${charges}`, `${charges} [[sim:policy_output]]`);
      expect([refused.status, refused.bucket]).toEqual([400, 'content_policy_violation']);
      note(`refused ${charges}`, billed);
    }
    expect((await sync('bfl/charges-yes', '[[sim:job_failed]]')).status).toBe(502);
    note('failed', false);
    expect((await sync('bfl/charges-yes', '[[sim:field_error]]')).status).toBe(422);
    note('rejected', false);
    expect((await sync('bfl/charges-yes', '[[sim:402]]')).status).toBe(502);
    note('account', false);

    await leave('dispatched', 'kept', async () => (await system.partner.peaks('dispatched')).accepted === 1);
    note('left while it ran', true);
    const left = `SELECT 1 FROM run WHERE caller_left_at IS NOT NULL`;
    await until('the caller to be seen gone', async () => (await system.sql(left)).length === 1);
    await system.partner.finish();
    await until('the run nobody waits for', async () => (await live()) === 0);
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    await worker.kill('SIGSTOP');
    const waiting: Submitted = await caller.submit('bfl/charges-yes', prompt('cancelled'));
    expect((await caller.cancel(waiting)).status).toBe(202);
    note('cancelled while it waited', false);
    await leave('withdrawn', undefined, async () => (await live()) === 1);
    note('withdrawn', false);
    await until('the withdrawal', async () => (await live()) === 0);
    await worker.kill('SIGCONT');

    const { token } = await answerOf<{ token: string }>(
      env,
      'token',
      'create',
      '--workspace',
      caller.workspace,
      '--subject',
      'a "robot", with commas',
    );
    const v1 = await caller.call('POST', '/v1/models/bfl/charges-no', {
      body: prompt('by token'),
      headers: { authorization: `Bearer ${token}` },
    });
    expect(v1.status).toBe(200);
    note('by token', true);
    await holdToInvariants(system);
  });

  it('bills successes, and policy refusals only where the row says yes', async () => {
    const [sums] = await system.sql<Record<'ledger' | 'balance' | 'paid' | 'billed' | 'audited', number>>(
      `SELECT (SELECT sum(amount_micros) FROM ledger_entry WHERE workspace_id = $1)::float AS ledger,
         (SELECT balance_micros FROM workspace WHERE id = $1)::float AS balance,
         (SELECT sum(amount_micros) FROM ledger_entry WHERE workspace_id = $1 AND run_id IS NULL)::float AS paid,
         (SELECT sum(billed_micros) FROM run WHERE workspace_id = $1)::float AS billed,
         (SELECT sum(billed_micros) FROM audit_record WHERE workspace_id = $1)::float AS audited`,
      [caller.workspaceId],
    );
    const billed = [...expected.values()].filter(Boolean).length * 70_001;
    expect(sums).toEqual({
      ledger: 10_000_000 - billed,
      balance: 10_000_000 - billed,
      paid: 10_000_000,
      billed,
      audited: billed,
    });
    const perRun = await system.sql<{
      billed: boolean;
      outcome: string;
      bucket: string | null;
      model: string;
    }>(
      `SELECT billed_micros > 0 AS billed, outcome, bucket, model FROM audit_record WHERE workspace_id = $1`,
      [caller.workspaceId],
    );
    expect(perRun).toHaveLength(expected.size);
    for (const run of perRun)
      expect(run.billed).toBe(
        run.outcome === 'succeeded' ||
          (run.bucket === 'content_policy_violation' && run.model === 'bfl/charges-yes'),
      );
    expect(perRun.filter((run) => run.outcome === 'cancelled')).toHaveLength(2);
  });

  it('lists the last runs, newest first, with their totals', async () => {
    const listed = await list();
    const billedRuns = [...expected.values()].filter(Boolean).length;
    expect(listed.runs).toBe(expected.size);
    expect(listed.billed_cents).toBeCloseTo(billedRuns * priceCents, 4);
    expect(listed.records).toHaveLength(expected.size);
    const ends = listed.records.map((record) => record.completed_at);
    expect(ends).toEqual(ends.toSorted().toReversed());
    const [last] = listed.records;
    expect(last).toMatchObject({
      credential: 'token:a "robot", with commas',
      key_prefix: null,
      route: 'POST /v1/models/{provider}/{model}',
      status: 200,
      bucket: null,
      cost_cents: priceCents,
      billed_cents: priceCents,
    });
    const held = listed.records.at(-1);
    expect(held?.key_prefix).toBe(caller.key.slice(0, held?.key_prefix?.length));
    expect(held?.key_prefix?.length).toBeLessThan(caller.key.length);
    expect(held?.latency_ms).toBeGreaterThan(250);
    expect(listed.records.filter((record) => record.caller_left)).toHaveLength(2);
    expect(new Set(listed.records.map((record) => record.request_id)).size).toBe(expected.size);

    const { code, out } = await runAdmin(
      env,
      'usage',
      'list',
      '--workspace',
      caller.workspace,
      '--limit',
      '1',
    );
    expect(code).toBe(0);
    expect(out).toContain(last?.run_id);
    expect(out).toContain(`${expected.size} runs, billed`);
  });

  it('gives the id of the call as the answer’s header did', async () => {
    const answer = await sync('bfl/charges-no', 'named');
    note('named', true);
    const { records } = await list();
    expect(records[0]?.request_id).toBe(answer.headers.get('x-service-request-id'));
  });

  it('exports the same as CSV and as JSON Lines, and only what ended in the range', async () => {
    const { records } = await list();
    const oldestFirst = records.toReversed();
    const lines = await exportedLines(env, ['--workspace', caller.workspace, '--format', 'jsonl']);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(oldestFirst);

    const csv = await exportedLines(env, ['--workspace', caller.workspace]);
    expect(csv[0]).toBe(Object.keys(oldestFirst[0] ?? {}).join(','));
    expect(csv).toHaveLength(records.length + 1);
    expect(csv.filter((line) => line.includes('"token:a ""robot"", with commas"'))).toHaveLength(1);

    const [first, second, third] = oldestFirst.map((record) =>
      new Date(Date.parse(record.completed_at) + 1).toISOString(),
    );
    const some = await exportedLines(env, [
      '--workspace',
      caller.workspace,
      '--format',
      'jsonl',
      '--from',
      first ?? '',
      '--until',
      third ?? '',
    ]);
    expect(second).toBeDefined();
    expect(some.map((line) => (JSON.parse(line) as UsageDocument).run_id)).toEqual(
      oldestFirst.slice(1, 3).map((record) => record.run_id),
    );
  });

  it('shows the ledger, whose last balance is the workspace’s', async () => {
    const ledger = await answerOf<{ credits_cents: number; entries: Record<string, unknown>[] }>(
      env,
      'credits',
      'list',
      caller.workspace,
    );
    expect(ledger.entries[0]).toMatchObject({ balance_cents: ledger.credits_cents });
    expect(ledger.entries.at(-1)).toMatchObject({ amount_cents: 1000, run_id: null, note: 'paid' });
    expect(ledger.entries).toHaveLength([...expected.values()].filter(Boolean).length + 1);
    const { out } = await runAdmin(env, 'credits', 'list', caller.workspace, '--limit', '1');
    expect(out.trim().split('\n')).toHaveLength(2);
  });

  it.each([
    [['export', '--format', 'xml'], 2],
    [['export', '--json'], 2],
    [['list'], 2],
    [['list', '--workspace', 'acme', '--from', 'yesterday'], 2],
    [['list', '--workspace', 'nobody'], 1],
    [['export', '--workspace', 'nobody'], 1],
  ])('answers usage %j with exit code %i', async (words, code) => {
    expect(await runAdmin(env, 'usage', ...words)).toMatchObject({ code, out: '' });
  });

  const list = () =>
    answerOf<{ runs: number; billed_cents: number; records: UsageDocument[] }>(
      env,
      'usage',
      'list',
      '--workspace',
      caller.workspace,
    );

  async function live(): Promise<number> {
    const [found] = await system.sql<{ live: number }>(
      `SELECT count(*)::integer AS live FROM run WHERE workspace_id = $1 AND stage <> 'completed'`,
      [caller.workspaceId],
    );
    return found?.live ?? 0;
  }

  /** A synchronous call whose caller goes as soon as `reached` says so. */
  async function leave(tag: string, key: string | undefined, reached: () => Promise<boolean>): Promise<void> {
    const controller = new AbortController();
    const gone = fetch(`${system.gateways[0]?.url}/v2/models/bfl/charges-yes`, {
      method: 'POST',
      headers: {
        'x-api-key': caller.key,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: prompt(`[[sim:tag=${tag}]] ${unending}`),
      signal: controller.signal,
    }).catch((error: unknown) => error);
    await until(`the ${tag} run`, reached);
    controller.abort();
    await gone;
  }
});

failOnLeftovers();
