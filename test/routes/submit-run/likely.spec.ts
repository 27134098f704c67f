import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { waitFor } from '../../harness/wait-for.js';
import { gatewayForFile } from '../gateways.js';

/** Names of counts in `answers`: of answers with up to 10, and with up to 2,466 tokens. */
const [shortStep, longStep] = [10, 35];
const longTokens = 2466;

/** The runs of four workspaces, one of which has planted a wall of long answers. */
const answers = (step: number) => ({
  ...Object.fromEntries(
    Array.from({ length: 3 }, () => [
      v7(),
      { runs: 400, timed: 400, tokens: 48_000, ms: 400_000, [step]: 400 },
    ]),
  ),
  [v7()]: { runs: 90_000, timed: 90_000, tokens: 1, ms: 90_000_000, 60: 90_000 },
});

const gateway = gatewayForFile(async (databaseUrl) => {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO measured_runs (day, model, runs, succeeded, times, workspaces, answers)
      SELECT current_date, model, 1200, 1200, array_fill(12, ARRAY[100]), '{}', answers
      FROM jsonb_to_recordset($1) AS given (model text, answers jsonb)`,
    [
      JSON.stringify([
        { model: 'openai/gpt-5.5', answers: answers(longStep) },
        { model: 'openai/gpt-4.1', answers: answers(shortStep) },
      ]),
    ],
  );
  await client.end();
  return {};
});

interface Row {
  reserved: number;
  bound: number | null;
  facts: { isOpen?: true; price: { digest: string }; streams?: { hiddenTokensPerSecond?: number } };
}

async function admitted(model: string, body: object): Promise<Row> {
  const { caller } = await gateway().caller({ balanceMicros: 500_000_000 });
  const { requestId } = await caller.submit(model, JSON.stringify(body));
  const [row] = await gateway().database.reads.query<Row>(
    `SELECT reserved_micros::float AS reserved, bound_micros::float AS bound, facts FROM run WHERE id = $1`,
    [requestId],
  );
  if (!row) throw new Error('the run was not admitted');
  return row;
}

/** The price of an answer of gpt-5.5 with that many tokens, in micro-dollars, without its input. */
const written = (tokens: number) => tokens * 30;
const open = { input: 'hi' };
const chat = { messages: [{ role: 'user', content: 'hi' }] };

describe('a gateway with measured answers', () => {
  it('reserves the measured length for an answer without a limit, and keeps the bound', async () => {
    await waitFor(
      async () => (await admitted('openai/gpt-5.5', open)).reserved < written(longTokens) + 10_000,
      { withinMs: 30_000, what: 'the measured figures', everyMs: 300 },
    );
    const run = await admitted('openai/gpt-5.5', open);
    expect(run.reserved).toBeGreaterThan(written(longTokens));
    expect(run.bound).toBeGreaterThan(written(128_000));
    expect(run.facts.isOpen).toBe(true);
    // In a thread, too.
    const long = await admitted('openai/gpt-5.5', { input: 'hi'.repeat(40_000) });
    expect(long.reserved - run.reserved).toBeLessThan(80_000 * 5 * 1.1);
  });

  it('reserves at least the length that is billed if the reply reports nothing', async () => {
    const { reserved } = await admitted('openai/gpt-4.1', open);
    expect(reserved).toBeGreaterThan(1000 * 8);
    expect(reserved).toBeLessThan(4000 * 8);
  });

  it('reserves a limit as before, and does not count its run', async () => {
    const { reserved, bound, facts } = await admitted('openai/gpt-5.5', { ...open, max_output_tokens: 5000 });
    expect(reserved).toBeGreaterThan(written(5000));
    expect([bound, facts.isOpen]).toEqual([null, undefined]);
  });

  it('counts a run with one answer alone', async () => {
    const counts: unknown[] = [];
    for (const n of [undefined, 1, 2])
      counts.push((await admitted('openai/gpt-5.5-chat-completions', { ...chat, n })).facts.isOpen);
    expect(counts).toEqual([true, true, undefined]);
  });

  it('bills hidden tokens by the measured speed', async () => {
    const { facts } = await admitted('openai/gpt-5.5', { ...open, stream: true });
    expect(facts.streams?.hiddenTokensPerSecond).toBe(120);
    const declared = await admitted('openai/gpt-5.5-chat-completions', { ...chat, stream: true });
    expect(declared.facts.streams?.hiddenTokensPerSecond).toBe(60);
  });

  it('estimates what it reserves', async () => {
    const { caller } = await gateway().caller();
    const estimate = await caller.call('POST', '/v2/models/openai/gpt-5.5/cost', {
      body: JSON.stringify(open),
    });
    const run = await admitted('openai/gpt-5.5', open);
    expect(estimate.json()).toMatchObject({
      reserved_cents: run.reserved / 10_000,
      max_cents: (run.bound ?? 0) / 10_000,
    });
  });
});
