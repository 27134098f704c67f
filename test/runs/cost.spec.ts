import { beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { answerOf } from '../admin/run-admin.js';
import {
  type Answer,
  failOnLeftovers,
  newTag,
  sharedSystem,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

interface UsageDocument {
  request_id: string;
  credential: string;
  key_prefix: string | null;
  route: string;
  billed_cents: number;
  caller_left: boolean;
}

const row = (id: string, charges: string) =>
  `id: ${id}\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: ${charges}\nprice: { usd: 0.070001 }\n`;
const prompt = (text: string) => JSON.stringify({ prompt: text });

const until = (what: string, holds: () => Promise<boolean>) => waitFor(holds, { withinMs: 30_000, what });

describe.each(transports().slice(0, 1))('what runs cost on %s', (transport) => {
  const system = sharedSystem(transport);
  const family = newTag('bfl/charges');
  let caller: TestCaller;
  /** Whether each run is billed, by request id, in the order of the outcomes. */
  const expected = new Map<string, boolean>();

  const sync = (charges: string, text: string, headers: Record<string, string> = {}) =>
    caller.call('POST', `/v2/models/${family}-${charges}`, { body: prompt(text), headers });
  const note = ({ headers }: Answer, billed: boolean) =>
    expected.set(headers.get('x-service-request-id') ?? '', billed);

  beforeAll(async () => {
    caller = await system.caller({ inflightLimit: 50, balanceMicros: 10_000_000 });
    for (const charges of ['yes', 'no', 'unknown']) {
      const id = `${family}-${charges}`;
      writeFileSync(path.join(system.catalog, `${id.replace('/', '-')}.yaml`), row(id, charges));
    }
    const served = async () => {
      const answers = await Promise.all(
        ['yes', 'no', 'unknown'].flatMap((charges) =>
          system.gateways.map((_each, gateway) =>
            caller.call('GET', `/v2/models/${family}-${charges}`, { gateway }),
          ),
        ),
      );
      return answers.every(({ status }) => status === 200);
    };
    await waitFor(served, { withinMs: 60_000, what: 'the rows to be in use', everyMs: 100 });
  });

  it('bills successes, and policy refusals only if the row says so', async () => {
    const held = await sync('no', 'held');
    expect(held.status).toBe(200);
    note(held, true);
    for (const [charges, billed] of [
      ['yes', true],
      ['no', false],
      ['unknown', false],
    ] as const) {
      const refused = await sync(charges, `${charges} [[sim:policy_output]]`);
      expect([refused.status, refused.bucket]).toEqual([400, 'content_policy_violation']);
      note(refused, billed);
    }
    const failed = await sync('yes', '[[sim:job_failed]]');
    expect(failed.status).toBe(502);
    note(failed, false);
    const rejected = await sync('yes', '[[sim:field_error]]');
    expect(rejected.status).toBe(422);
    note(rejected, false);

    const [sums] = await system.sql<Record<'ledger' | 'balance' | 'billed' | 'audited', number>>(
      `SELECT (SELECT sum(amount_micros) FROM ledger_entry WHERE workspace_id = $1 AND run_id IS NOT NULL)::float AS ledger,
         (SELECT balance_micros FROM workspace WHERE id = $1)::float AS balance,
         (SELECT sum(billed_micros) FROM run WHERE workspace_id = $1)::float AS billed,
         (SELECT sum(billed_micros) FROM audit_record WHERE workspace_id = $1)::float AS audited`,
      [caller.workspaceId],
    );
    expect(sums).toEqual({
      ledger: -2 * 70_001,
      balance: 10_000_000 - 2 * 70_001,
      billed: 2 * 70_001,
      audited: 2 * 70_001,
    });
  });

  it('bills a run whose caller left, if it succeeds', async () => {
    const tag = newTag('left');
    const controller = new AbortController();
    const gone = fetch(`${system.gateways[0]?.url}/v2/models/${family}-yes`, {
      method: 'POST',
      headers: { 'x-api-key': caller.key, 'content-type': 'application/json', 'idempotency-key': tag },
      body: prompt(`[[sim:tag=${tag}]] ${unending}`),
      signal: controller.signal,
    }).catch((error: unknown) => error);
    await until('the submission', async () => (await system.provider.accepted(tag)) === 1);
    controller.abort();
    await gone;
    const found = (condition: string) => async () =>
      (await system.sql(`SELECT 1 FROM run WHERE workspace_id = $1 AND ${condition}`, [caller.workspaceId]))
        .length === 1;
    await until('the gateway to notice that the caller left', found('caller_left_at IS NOT NULL'));
    await system.provider.finish(tag);
    await until('the outcome', found(`caller_left_at IS NOT NULL AND stage = 'completed'`));
    const [run] = await system.sql<{ id: string; billed: number }>(
      `SELECT call ->> 'requestId' AS id, billed_micros::float AS billed FROM run
       WHERE workspace_id = $1 AND caller_left_at IS NOT NULL`,
      [caller.workspaceId],
    );
    expect(run?.billed).toBe(70_001);
    expected.set(run?.id ?? '', true);
  });

  it('is listed by request id, with the caller and the route', async () => {
    const env = { DATABASE_URL: system.database.url, JWT_SECRET: system.env()['JWT_SECRET'] ?? '' };
    const { token } = await answerOf<{ token: string }>(
      env,
      'token',
      'create',
      '--workspace',
      caller.workspace,
      '--subject',
      'a robot',
    );
    const byToken = await caller.call('POST', `/v1/models/${family}-no`, {
      body: prompt('by token'),
      headers: { authorization: `Bearer ${token}` },
    });
    expect(byToken.status).toBe(200);
    note(byToken, true);

    const { records } = await answerOf<{ records: UsageDocument[] }>(
      env,
      'usage',
      'list',
      '--workspace',
      caller.workspace,
    );
    const oldestFirst = records.toReversed();
    expect(oldestFirst.map((record) => [record.request_id, record.billed_cents > 0])).toEqual([...expected]);
    expect(oldestFirst[0]).toMatchObject({ route: 'POST /v2/models/{provider}/{model}' });
    expect(caller.key.startsWith(oldestFirst[0]?.key_prefix ?? 'none')).toBe(true);
    expect(oldestFirst.at(-1)).toMatchObject({
      credential: 'token:a robot',
      key_prefix: null,
      route: 'POST /v1/models/{provider}/{model}',
    });
    expect(records.filter((record) => record.caller_left)).toHaveLength(1);
  });
});

failOnLeftovers();
