import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  type LiveAnswer,
  newTag,
  openAnswer,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';
import { roomy } from './crowd.js';
import { quickLeases } from './worker-faults.js';

/** The provider's price of a token of gpt-5.5, in micro-dollars. */
const [microsRead, microsWritten] = [5, 30];
const rounds = 5;

interface Loop {
  /** Words in the prompt that control the provider. */
  words: string;
  /** Waits until the stream is stopped. */
  until: (answer: LiveAnswer) => Promise<unknown>;
  /** The caller's act then; absent if the provider breaks off. */
  stop?: 'leave' | 'reset' | 'cancel';
  isReported?: true;
}

const has = (answer: LiveAnswer, text: string) =>
  waitFor(() => answer.bytes().includes(text), { withinMs: 30_000, what: text });
const begun = (answer: LiveAnswer) => has(answer, 'response.created');
const reasoned = async (answer: LiveAnswer) => {
  await begun(answer);
  await pause(1_000);
};

const loops: Readonly<Record<string, Loop>> = {
  'leave at once': { words: '[[sim:stream_reason=3000]]', until: begun, stop: 'leave' },
  'leave after a second of reasoning': {
    words: '[[sim:stream_reason=5000]]',
    until: reasoned,
    stop: 'leave',
  },
  'leave in the middle of the text': {
    words: '[[sim:stream_reason=2000]] [[sim:stream_hang]]',
    until: (answer) => has(answer, 'output_text.delta'),
    stop: 'leave',
  },
  'leave after the text': {
    words: '[[sim:stream_reason=2000]] [[sim:stream_late=5000]]',
    until: (answer) => has(answer, 'output_text.done'),
    stop: 'leave',
    isReported: true,
  },
  'cancel after a second of reasoning': {
    words: '[[sim:stream_reason=5000]]',
    until: reasoned,
    stop: 'cancel',
  },
  'cancel after the text': {
    words: '[[sim:stream_reason=2000]] [[sim:stream_late=5000]]',
    until: (answer) => has(answer, 'output_text.done'),
    stop: 'cancel',
    isReported: true,
  },
  'reset their connection after a second of reasoning': {
    words: '[[sim:stream_reason=5000]]',
    until: reasoned,
    stop: 'reset',
  },
  'reset their connection in the middle of the text': {
    words: '[[sim:stream_reason=2000]] [[sim:stream_hang]]',
    until: (answer) => has(answer, 'output_text.delta'),
    stop: 'reset',
  },
  'have a provider that resets its connection': {
    words: '[[sim:stream_reset]]',
    until: ({ ended }) => ended,
  },
};

interface Row {
  outcome: string;
  bucket: string | null;
  billed: number;
  reported: number | null;
}

describe.each(transports())('callers on %s who try to get tokens for nothing', (transport) => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({ transport });
    caller = await system.caller(roomy);
    // The first stream of each process is slow, which is not the provider's time.
    await openAnswer(`${system.gateways[0]?.url}/v2/models/openai/gpt-5.5`, {
      key: caller.key,
      body: '{"input":"Say hello.","max_output_tokens":100,"stream":true}',
    }).then(({ ended }) => ended);
  });
  afterAll(() => system.stop());

  it.each(Object.entries(loops))('%s, and pay what the provider charges', async (name, loop) => {
    const tags = Array.from({ length: rounds }, () => newTag('left'));
    const runs = await Promise.all(
      tags.map(async (tag) => {
        const body = {
          input: `Tell a story. [[sim:tag=${tag}]] ${loop.words}`,
          max_output_tokens: 5000,
          stream: true,
        };
        const answer = await openAnswer(`${system.gateways[0]?.url}/v2/models/openai/gpt-5.5`, {
          key: caller.key,
          body: JSON.stringify(body),
          headers: loop.stop === 'cancel' ? { 'idempotency-key': tag } : {},
          pauseMs: 0,
        });
        const runId = answer.headers.get('x-service-run-id') ?? '';
        await loop.until(answer);
        if (loop.stop === 'leave') answer.leave();
        if (loop.stop === 'reset') answer.reset();
        if (loop.stop === 'cancel')
          await caller.call('PUT', `/v2/models/openai/gpt-5.5/requests/${runId}/cancel`);
        return runId;
      }),
    );
    await system.ended(caller);
    const rows = await rowsOf(system, runs);
    expect(rows).toHaveLength(rounds);
    const charged = await chargedFor(system, tags);
    const billed = rows.map((row) => row.billed).reduce((one, other) => one + other);
    process.stdout.write(
      `${name}: billed ${(billed / 1e4).toFixed(3)} ¢, the provider charged ${(charged / 1e4).toFixed(3)} ¢, ${(billed / charged).toFixed(2)} (${transport})\n`,
    );
    const expected = loop.stop ? 'cancelled' : 'failed';
    expect(rows.map(({ outcome }) => outcome)).toEqual(rows.map(() => expected));
    expect(rows.filter(({ reported }) => reported !== null).length).toBe(loop.isReported ? rounds : 0);
    expect(billed).toBeGreaterThan(0.8 * charged);
    expect(billed).toBeLessThan(1.3 * charged);
    expect(loop.isReported ? billed : charged).toBe(charged);
    await holdToInvariants(system);
  });

  it('leave before the provider answers, and pay nothing', async () => {
    const tag = newTag('early');
    const body = JSON.stringify({ input: `[[sim:tag=${tag}]] [[sim:hang_after_accept]]`, stream: true });
    const path = '/v2/models/openai/gpt-5.5';
    const leaving = new AbortController();
    const call = fetch(`${system.gateways[0]?.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': caller.key, 'content-type': 'application/json' },
      body,
      signal: leaving.signal,
    });
    await waitFor(async () => (await system.provider.ledger(tag)).length > 0, {
      withinMs: 30_000,
      what: 'the call of the provider',
    });
    const [run] = await system.sql<{ id: string }>(
      `SELECT id FROM run WHERE workspace_id = $1 AND stage = 'submitting'`,
      [caller.workspaceId],
    );
    await caller.call('PUT', `${path}/requests/${run?.id}/cancel`);
    leaving.abort();
    await expect(call).rejects.toThrow(/abort/);
    await system.ended(caller);
    expect(await rowsOf(system, [run?.id ?? ''])).toMatchObject([{ outcome: 'cancelled', billed: 0 }]);
    await holdToInvariants(system);
  });
});

describe.each(transports())('a worker on %s that reads on for the usage of a stream', (transport) => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({ transport, workers: 0, env: quickLeases });
    caller = await system.caller(roomy);
  });
  afterAll(() => system.stop());

  /** Leaves a stream after its text, whose usage comes much later. */
  async function leaveAfterText(tag: string): Promise<string> {
    const words = `[[sim:tag=${tag}]] [[sim:stream_reason=2000]] [[sim:stream_late=60000]]`;
    const answer = await openAnswer(`${system.gateways[0]?.url}/v2/models/openai/gpt-5.5`, {
      key: caller.key,
      body: JSON.stringify({ input: `Tell a story. ${words}`, max_output_tokens: 5000, stream: true }),
    });
    await has(answer, 'output_text.done');
    answer.leave();
    const runId = answer.headers.get('x-service-run-id') ?? '';
    await waitFor(
      async () =>
        (await system.sql('SELECT FROM run WHERE id = $1 AND cancel_requested_at IS NOT NULL', [runId]))
          .length === 1,
      { withinMs: 30_000, what: 'the cancellation' },
    );
    return runId;
  }

  it('bills it by what is known before it stops', async () => {
    const leaver = await system.startWorker({ WORKER_CLOSE_MS: '4000' });
    const tag = newTag('stopped');
    const runId = await leaveAfterText(tag);
    system.forget(leaver);
    expect(await leaver.stop(20_000)).toBe(0);
    const [row] = await rowsOf(system, [runId]);
    const charged = await chargedFor(system, [tag]);
    expect(row).toMatchObject({ outcome: 'cancelled', reported: null });
    expect(row?.billed).toBeGreaterThan(0.8 * charged);
    expect(row?.billed).toBeLessThan(1.3 * charged);
    await holdToInvariants(system);
  });

  it('and is killed leaves the run to another one, which ends it as unknown and bills nothing', async () => {
    const doomed = await system.startWorker();
    const runId = await leaveAfterText(newTag('killed'));
    await system.kill(doomed);
    await system.startWorker();
    await system.ended(caller);
    expect(await rowsOf(system, [runId])).toEqual([
      { outcome: 'failed', bucket: 'internal_error', billed: 0, reported: null },
    ]);
    await holdToInvariants(system);
  });
});

const rowsOf = (system: System, runs: readonly string[]): Promise<Row[]> =>
  system.sql<Row>(
    'SELECT outcome, bucket, billed_micros::float AS billed, reported_micros::float AS reported FROM run WHERE id = ANY($1)',
    [runs],
  );

/** The price of the calls with these tags at the provider, in micro-dollars. */
async function chargedFor(system: System, tags: readonly string[]): Promise<number> {
  const ledger = (await Promise.all(tags.map((tag) => system.provider.ledger(tag)))).flat();
  expect(ledger).toHaveLength(tags.length);
  return ledger
    .map(({ used }) => (used?.read ?? NaN) * microsRead + (used?.written ?? NaN) * microsWritten)
    .reduce((one, other) => one + other);
}

failOnLeftovers();
