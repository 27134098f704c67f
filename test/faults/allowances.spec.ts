import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { holdToInvariants, least, System } from '../harness/faults.js';
import {
  type Answer,
  failOnLeftovers,
  temporaryFolder,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

/** An operator's row that costs 30 cents per call, whatever the input. */
const dearRow =
  'id: bfl/dear\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: no\nprice: { usd: 0.3 }\n';
const dearMicros = 300_000;
const cents = (amount: number) => amount * 10_000;
const roomy = { inflightLimit: 1_000, windowLimit: 100_000, committedLimitMicros: cents(1_000_000) };

describe.each(transports().slice(0, 1))('limits of a workspace across two gateways on %s', (transport) => {
  let system: System;

  beforeAll(async () => {
    const directory = temporaryFolder('catalog');
    writeFileSync(path.join(directory, 'dear.yaml'), dearRow);
    system = await System.start({ transport, gateways: 2, workers: 2, env: { CATALOG_DIR: directory } });
  });
  afterAll(() => system.stop());

  const countersOf = async (caller: TestCaller) => {
    const [row] = await system.sql(
      `SELECT inflight, committed_micros, held_micros, backlog, window_count, balance_micros FROM workspace WHERE id = $1`,
      [caller.workspaceId],
    );
    return row;
  };

  /** The rows that an admission would have left: keys, runs, outbox rows, audit records and ledger entries. */
  const tracesOf = async (caller: TestCaller) => {
    const [row] = await system.sql<{ traces: number }>(
      `SELECT ((SELECT count(*) FROM run WHERE workspace_id = $1) + (SELECT count(*) FROM outbox WHERE workspace_id = $1)
         + (SELECT count(*) FROM idempotency_key WHERE workspace_id = $1)
         + (SELECT count(*) FROM audit_record WHERE workspace_id = $1))::integer AS traces`,
      [caller.workspaceId],
    );
    return row?.traces;
  };

  const peaksOf = async (caller: TestCaller) => {
    const [row] = await system.sql<{ inflight: number; committed: string }>(
      `SELECT inflight_peak AS inflight, committed_peak_micros AS committed FROM workspace WHERE id = $1`,
      [caller.workspaceId],
    );
    return { inflight: row?.inflight, committedMicros: Number(row?.committed) };
  };

  /** Makes all calls at once. The provider keeps generating until the expected number of calls was rejected. */
  const crowd = async (
    caller: TestCaller,
    model: string,
    tag: string,
    { calls, admitted }: { calls: number; admitted: number },
  ): Promise<Answer[]> => {
    let answered = 0;
    const all = Promise.all(
      Array.from({ length: calls }, async (_each, index) => {
        const prompt = `${index} [[sim:tag=${tag}]] ${unending}`;
        const body = JSON.stringify({ prompt });
        const gateway = index % 2;
        const answer = await caller.call('POST', `/v2/models/${model}`, { body, gateway, withinMs: 90_000 });
        answered += 1;
        return answer;
      }),
    );
    const refused = async () =>
      answered >= calls - admitted && (await system.provider.accepted(tag)) >= admitted;
    await Promise.race([all, waitFor(refused, { withinMs: 60_000, what: 'the refusals', everyMs: 50 })]);
    await system.provider.finish();
    return all;
  };

  it('admit exactly 10 of 500 synchronous runs at once, and reject 490', async () => {
    const caller = await system.caller({ ...roomy, inflightLimit: 10 });
    const answers = await crowd(caller, 'bfl/flux-2-pro', 'five-hundred', { calls: 500, admitted: 10 });
    expect(tally(answers)).toEqual({ '200': 10, '429 concurrency_limit_exceeded': 490 });
    const refused = answers.filter((answer) => answer.status === 429);
    for (const answer of refused) {
      expect(answer.json()['detail']).toMatch(/10 calls in flight/);
      expect(answer.headers.has('x-committed-spend-limit')).toBe(false);
      expect(answer.headers.has('retry-after')).toBe(false);
    }
    expect(await system.provider.peaks('five-hundred')).toMatchObject({ accepted: 10, peak: 10 });
    expect((await peaksOf(caller)).inflight).toBe(10);
    expect(await countersOf(caller)).toMatchObject({ inflight: 0, committed_micros: '0', held_micros: '0' });
    await holdToInvariants(system);
  });

  it('admit exactly 3 of 100 runs of 30 cents under a limit of 100, and the headers add up', async () => {
    const caller = await system.caller({ ...roomy, committedLimitMicros: cents(100) });
    const answers = await crowd(caller, 'bfl/dear', 'ceiling', { calls: 100, admitted: 3 });
    expect(tally(answers)).toEqual({ '200': 3, '429 concurrency_limit_exceeded': 97 });
    const refused = answers.filter((answer) => answer.status === 429);
    for (const answer of refused) {
      expect(answer.json()['detail']).toMatch(/committed spend .* retry when one finishes/);
      const { limit, current, remaining } = committedSpend(answer);
      expect(limit).toBe(100);
      // Less than 30 cents were left when the call was rejected, and no run finishes before that in this test.
      expect({ current, remaining }).toEqual({ current: 90, remaining: 10 });
      expect(current + remaining).toBe(limit);
    }
    expect(await system.provider.peaks('ceiling')).toMatchObject({ accepted: 3, peak: 3 });
    expect(await peaksOf(caller)).toEqual({ inflight: 3, committedMicros: 3 * dearMicros });
    await holdToInvariants(system);
  });

  it('tell a call above the whole limit on committed spend that waiting will not help, and admit it once the limit is raised', async () => {
    const caller = await system.caller({ ...roomy, committedLimitMicros: cents(29) });
    for (const route of ['', '/requests']) {
      const answer = await caller.call('POST', `/v2/models/bfl/dear${route}`, { body: '{"prompt":"x"}' });
      expect([answer.status, answer.bucket]).toEqual([429, 'concurrency_limit_exceeded']);
      expect(answer.json()['detail']).toMatch(/waiting will not help/);
      expect(committedSpend(answer)).toEqual({ limit: 29, current: 0, remaining: 29 });
    }
    await system.operate((workspaces) =>
      workspaces.change(caller.workspace, { committedLimitMicros: cents(30) }, 'test'),
    );
    const answer = await caller.call('POST', '/v2/models/bfl/dear', { body: '{"prompt":"x"}' });
    expect(answer.status).toBe(200);
  });

  it('admit exactly as many of 50 runs as the credits cover, and leave the right balance', async () => {
    const caller = await system.caller(roomy);
    await system.operate((workspaces) =>
      workspaces.change(caller.workspace, { balanceMicros: cents(310), note: 'test' }, 'test'),
    );
    const answers = await crowd(caller, 'bfl/dear', 'credits', { calls: 50, admitted: 10 });
    expect(tally(answers)).toEqual({ '200': 10, '402 insufficient_credits': 40 });
    expect(await countersOf(caller)).toMatchObject({ balance_micros: String(cents(10)), held_micros: '0' });
    expect(await system.provider.accepted('credits')).toBe(10);
    const again = await caller.call('POST', '/v2/models/bfl/dear', { body: '{"prompt":"one more"}' });
    expect([again.status, again.bucket]).toEqual([402, 'insufficient_credits']);
    await holdToInvariants(system);
  });

  it.each([
    ['calls in flight', { inflightLimit: 0 }, '', 429],
    ['committed spend', { committedLimitMicros: 1 }, '', 429],
    ['the window', { windowLimit: 0 }, '', 429],
    ['the window, queued', { windowLimit: 0 }, '/requests', 429],
    ['the backlog', { inflightLimit: 0, backlogLimit: 0 }, '/requests', 429],
    ['credits', { balanceMicros: cents(29) }, '', 402],
    ['credits, queued', { balanceMicros: cents(29) }, '/requests', 402],
  ])('a call rejected for %s consumes nothing and frees its key', async (_what, limits, route, status) => {
    const caller = await system.caller({ ...roomy, ...limits });
    const before = await countersOf(caller);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_each, index) =>
        caller.call('POST', `/v2/models/bfl/dear${route}`, {
          body: '{"prompt":"refused"}',
          headers: { 'idempotency-key': `refused-${index % 3}` },
        }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    expect(await countersOf(caller)).toEqual(before);
    expect(await tracesOf(caller)).toBe(0);
  });

  it('limit the backlog exactly, and one workspace’s backlog never delays another', async () => {
    const full = await system.caller({ ...roomy, inflightLimit: 1, backlogLimit: 40 });
    const other = await system.caller(roomy);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_each, index) =>
        full.call('POST', '/v2/models/bfl/flux-2-pro/requests', {
          body: JSON.stringify({ prompt: `${index} [[sim:tag=backlog]] ${unending}` }),
          gateway: index % 2,
        }),
      ),
    );
    // One runs, forty wait.
    expect(tally(answers)).toEqual({ '201': 41, '429 concurrency_limit_exceeded': 19 });
    for (const answer of answers.filter(({ status }) => status === 429)) {
      expect(answer.json()['detail']).toMatch(/40 requests waiting/);
    }

    await waitFor(async () => (await system.provider.peaks('backlog')).live === 1, {
      withinMs: 20_000,
      what: 'the first run of the full workspace',
    });
    const beside = async () => {
      const runs = await Promise.all(
        Array.from({ length: 10 }, (_each, index) =>
          other.submit('bfl/flux-2-pro', JSON.stringify({ prompt: `${index} beside` })),
        ),
      );
      await Promise.all(runs.map((run) => other.completed(run)));
      const [waited] = await system.sql<{ longest_ms: number }>(
        `SELECT max(extract(epoch FROM dispatched_at - admitted_at) * 1000)::float AS longest_ms FROM run WHERE id = ANY($1)`,
        [runs.map((run) => run.requestId)],
      );
      return waited?.longest_ms ?? Infinity;
    };
    const longestMs = await least(2_000, beside);
    process.stdout.write(`beside a backlog of 40, dispatched within ${longestMs} ms (${transport})\n`);
    expect(longestMs).toBeLessThan(2_000);
    expect(await countersOf(full)).toMatchObject({ inflight: 1, backlog: 40 });

    const handles = answers.filter((answer) => answer.status === 201).map((answer) => answer.json());
    await Promise.all(handles.map((handle) => full.call('PUT', String(handle['cancel_url']))));
    await system.provider.finish();
    await holdToInvariants(system, 60_000);
    expect(await system.provider.accepted('backlog')).toBe(1);
  });
});

/** The number of answers by status and bucket. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, bucket } of answers) {
    const name = bucket === undefined ? String(status) : `${status} ${bucket}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function committedSpend(answer: Answer): { limit: number; current: number; remaining: number } {
  const number = (name: string) => {
    const text = answer.headers.get(`x-committed-spend-${name}`) ?? '';
    expect(text).toMatch(/^\d+$/);
    return Number(text);
  };
  return { limit: number('limit'), current: number('current'), remaining: number('remaining') };
}

failOnLeftovers();
