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

/** The provider's price of a token of gpt-5.5, in micro-dollars. */
const [microsRead, microsWritten] = [5, 30];
const rounds = 5;
/** The worker's time of a call is longer than the provider's, by the connection and the start. */
const tokensOfStart = 60;

interface Loop {
  /** Words in the prompt that control the provider. */
  words: string;
  /** Waits until the caller stops the stream. */
  until: (answer: LiveAnswer) => Promise<unknown>;
  stop: 'leave' | 'cancel';
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
    words: '[[sim:stream_reason=2000]] [[sim:stream_late=2000]]',
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
    words: '[[sim:stream_reason=2000]] [[sim:stream_late=2000]]',
    until: (answer) => has(answer, 'output_text.done'),
    stop: 'cancel',
    isReported: true,
  },
};

describe.each(transports())('callers on %s who try to get tokens for nothing', (transport) => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({ transport });
    caller = await system.caller(roomy);
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
        else await caller.call('PUT', `/v2/models/openai/gpt-5.5/requests/${runId}/cancel`);
        return runId;
      }),
    );
    await system.ended(caller);
    const rows = await system.sql<{ outcome: string; billed: number; reported: number | null }>(
      'SELECT outcome, billed_micros::float AS billed, reported_micros::float AS reported FROM run WHERE id = ANY($1)',
      [runs],
    );
    const ledger = (await Promise.all(tags.map((tag) => system.provider.ledger(tag)))).flat();
    expect([rows.length, ledger.length]).toEqual([rounds, rounds]);
    const charged = ledger
      .map(({ used }) => (used?.read ?? NaN) * microsRead + (used?.written ?? NaN) * microsWritten)
      .reduce((one, other) => one + other);
    const billed = rows.map((row) => row.billed).reduce((one, other) => one + other);
    process.stdout.write(
      `${name}: billed ${(billed / 1e4).toFixed(3)} ¢, the provider charged ${(charged / 1e4).toFixed(3)} ¢ (${transport})\n`,
    );
    expect(rows.map(({ outcome }) => outcome)).toEqual(rows.map(() => 'cancelled'));
    expect(rows.filter(({ reported }) => reported !== null).length).toBe(loop.isReported ? rounds : 0);
    expect(billed).toBeGreaterThan(0.8 * charged);
    expect(billed).toBeLessThan(1.3 * charged + rounds * tokensOfStart * microsWritten);
    expect(loop.isReported ? billed : charged).toBe(charged);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
