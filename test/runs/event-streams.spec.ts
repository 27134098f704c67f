import { describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  type LiveAnswer,
  newTag,
  openAnswer,
  sha256,
  sharedSystem,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';

/** The models, with an input that asks for a stream and has these words in its prompt. */
const streamed = {
  'openai/gpt-5.5': (words: string) => ({ input: words, max_output_tokens: 100, stream: true }),
  'anthropic/claude-opus-5': (words: string) => ({
    max_tokens: 100,
    messages: [{ role: 'user', content: words }],
    stream: true,
  }),
  'vertexai/gemini-2.5-flash?alt=sse': (words: string) => ({
    contents: [{ role: 'user', parts: [{ text: words }] }],
    generationConfig: { maxOutputTokens: 100 },
  }),
  'openrouter/chat-completions': (words: string) => ({
    model: 'openai/gpt-5.6-luna',
    max_tokens: 100,
    messages: [{ role: 'user', content: words }],
    stream: true,
    stream_options: { include_usage: true },
  }),
} as const;
type Streaming = keyof typeof streamed;
const models = Object.keys(streamed) as Streaming[];
const usual: Streaming = 'openai/gpt-5.5';

interface Row {
  id: string;
  stage: string;
  outcome: string | null;
  bucket: string | null;
  billed: number;
  reported: number | null;
  output: string | null;
}

/** Waits until a part of the text has arrived. */
const begun = (answer: LiveAnswer) =>
  waitFor(async () => answer.bytes().includes('output_text.delta'), {
    withinMs: 30_000,
    what: 'the first text',
  });

describe.each(transports())('an event stream on %s', (transport) => {
  const system = sharedSystem(transport);

  const open = (
    caller: TestCaller,
    words: string,
    {
      model = usual,
      key = '',
      pauseMs = 0,
      gateway = 0,
    }: { model?: Streaming; key?: string; pauseMs?: number; gateway?: number } = {},
  ): Promise<LiveAnswer> =>
    openAnswer(`${system.gateways[gateway]?.url}/v2/models/${model}`, {
      key: caller.key,
      body: JSON.stringify(streamed[model](words)),
      headers: key === '' ? {} : { 'idempotency-key': key },
      pauseMs,
    });

  const rows = (caller: TestCaller) =>
    system.sql<Row>(
      `SELECT run.id, stage, outcome, bucket, billed_micros::float AS billed, reported_micros::float AS reported,
         media_type AS output
       FROM run LEFT JOIN payload ON run_id = run.id AND kind = 'output' WHERE workspace_id = $1 ORDER BY run.id`,
      [caller.workspaceId],
    );

  const ended = async (caller: TestCaller): Promise<Row> => {
    await system.ended(caller);
    const [row, ...others] = await rows(caller);
    expect(others).toEqual([]);
    if (row === undefined) throw new Error('no run was admitted');
    return row;
  };

  const providerOf = async (tag: string) => {
    const [entry, ...others] = await system.provider.ledger(tag);
    expect(others).toEqual([]);
    return entry;
  };

  it.concurrent('arrives byte for byte as the provider sent it, twelve at once', async () => {
    const caller = await system.caller({ inflightLimit: 12 });
    const sent = models.flatMap((model) => [1, 2, 3].map((nth) => ({ model, tag: newTag(`s${nth}`) })));
    await Promise.all(
      sent.map(async ({ model, tag }) => {
        const answer = await open(caller, `Say hello. [[sim:tag=${tag}]]`, { model });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
        expect(answer.headers.get('x-service-run-id')).toMatch(/^[0-9a-f-]{36}$/);
        expect(await answer.ended).toBe(true);
        expect(sha256(answer.bytes())).toBe((await providerOf(tag))?.replySha256);
        const stored = await system.payload(answer.headers.get('x-service-run-id') ?? '', 'output');
        expect(stored?.equals(answer.bytes())).toBe(true);
      }),
    );
    for (const row of await rows(caller)) {
      expect(row).toMatchObject({
        outcome: 'succeeded',
        output: expect.stringMatching(/^text\/event-stream/),
      });
      // Each provider reports the usage at the end of the stream.
      expect(row.reported).toBeGreaterThan(0);
      expect(row.billed).toBe(row.reported);
    }
  });

  it.concurrent('begins before the provider has finished', async () => {
    const caller = await system.caller();
    const tag = newTag('begins');
    const answer = await open(caller, `[[sim:tag=${tag}]] [[sim:stream_hang]]`);
    await begun(answer);
    expect((await rows(caller))[0]).toMatchObject({ stage: 'submitting' });
    answer.leave();
    await system.ended(caller);
  });

  it.concurrent('that is queued is collected whole, with its content type', async () => {
    const caller = await system.caller();
    const tag = newTag('queued');
    const body = JSON.stringify(streamed['anthropic/claude-opus-5'](`[[sim:tag=${tag}]]`));
    const run = await caller.submit('anthropic/claude-opus-5', body);
    await caller.completed(run);
    const collected = await caller.collect(run);
    expect(collected.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(sha256(collected.bytes)).toBe((await providerOf(tag))?.replySha256);
  });

  it.concurrent('answers an error before the first byte as every other run', async () => {
    const caller = await system.caller();
    const answer = await caller.call('POST', '/v2/models/openai/gpt-5.5', {
      body: JSON.stringify(streamed['openai/gpt-5.5']('[[sim:policy_submit]]')),
    });
    expect([answer.status, answer.bucket]).toEqual([400, 'content_policy_violation']);
  });

  it.concurrent.each(models)(
    'passes on an error in the middle of %s, and bills what was used',
    async (model) => {
      const caller = await system.caller();
      const answer = await open(caller, '[[sim:stream_error]]', { model });
      expect(answer.status).toBe(200);
      // The provider itself ended the stream.
      expect(await answer.ended).toBe(true);
      expect(answer.bytes().toString()).toContain('error');
      const row = await ended(caller);
      expect(row.outcome).toBe('failed');
      expect(row.billed).toBeGreaterThan(0);
      const collected = await caller.call('GET', `/v2/models/${model.split('?')[0]}/requests/${row.id}`);
      expect(collected.bucket).toBe(row.bucket);
    },
  );

  it.concurrent(
    'that the provider breaks off ends with an error, and is billed as far as it came',
    async () => {
      const caller = await system.caller();
      const [words, key] = ['Tell a story. [[sim:stream_reset]]', newTag('reset')];
      const answer = await open(caller, words, { key });
      expect(await answer.ended).toBe(true);
      expect(answer.bytes().toString()).toMatch(/\n\nevent: error\ndata: .*"provider_error".*\n\n$/);
      const row = await ended(caller);
      expect(row).toMatchObject({ outcome: 'failed', bucket: 'provider_error', reported: null });
      expect(row.billed).toBeGreaterThan(0);
      const retry = await open(caller, words, { key });
      expect([retry.status, retry.headers.get('x-service-error-type')]).toEqual([502, 'provider_error']);
    },
  );

  it.concurrent('is stopped at the provider when a caller without a key leaves', async () => {
    const caller = await system.caller();
    const tag = newTag('left');
    const answer = await open(caller, `Tell a story. [[sim:tag=${tag}]] [[sim:stream_hang]]`);
    await begun(answer);
    answer.leave();
    const row = await ended(caller);
    expect(row).toMatchObject({ outcome: 'cancelled', bucket: 'client_disconnected' });
    expect(row.billed).toBeGreaterThan(0);
    await waitFor(async () => (await providerOf(tag))?.abortedAtMs != null, {
      withinMs: 30_000,
      what: 'the provider to lose the connection',
    });
  });

  it.concurrent('that a caller of OpenRouter leaves is billed by the record of its provider', async () => {
    const caller = await system.caller();
    const tag = newTag('record');
    const words = `Tell a story. [[sim:tag=${tag}]] [[sim:stream_hang]]`;
    const answer = await open(caller, words, { model: 'openrouter/chat-completions' });
    await waitFor(async () => answer.bytes().includes('"content":"'), {
      withinMs: 30_000,
      what: 'the first text',
    });
    answer.leave();
    const row = await ended(caller);
    const { read, written } = (await providerOf(tag))?.used ?? { read: NaN, written: NaN };
    expect(row).toMatchObject({
      outcome: 'cancelled',
      reported: Math.ceil(read * 0.2 + written * 1.2 - 1e-6),
    });
    expect(row.billed).toBe(row.reported);
  });

  it.concurrent.each([
    ['did not', { include_usage: false }],
    ['did', { include_usage: true }],
  ])(
    'of chat completions is billed by its usage, which a caller receives who %s ask for it',
    async (_what, options) => {
      const caller = await system.caller();
      const answer = await openAnswer(
        `${system.gateways[0]?.url}/v2/models/openai/gpt-5.5-chat-completions`,
        {
          key: caller.key,
          body: JSON.stringify({
            messages: [{ role: 'user', content: 'Say hello.' }],
            max_tokens: 100,
            stream: true,
            stream_options: options,
          }),
        },
      );
      expect(await answer.ended).toBe(true);
      expect(answer.bytes().includes('"prompt_tokens"')).toBe(options.include_usage);
      expect(answer.bytes().toString()).toMatch(/data: \[DONE\]\n\n$/);
      const row = await ended(caller);
      expect(row.reported).toBeGreaterThan(0);
      expect(row.billed).toBe(row.reported);
    },
  );

  it.concurrent('is stopped at the provider when its run is cancelled', async () => {
    const caller = await system.caller();
    const tag = newTag('cancelled');
    const answer = await open(caller, `Tell a story. [[sim:tag=${tag}]] [[sim:stream_hang]]`, { key: tag });
    await begun(answer);
    const runId = answer.headers.get('x-service-run-id');
    const asked = await caller.call('PUT', `/v2/models/openai/gpt-5.5/requests/${runId}/cancel`);
    expect(asked.status).toBe(202);
    expect(await answer.ended).toBe(true);
    expect(answer.bytes().toString()).toMatch(/\n\nevent: error\ndata: .*"client_disconnected".*\n\n$/);
    expect(await ended(caller)).toMatchObject({ outcome: 'cancelled' });
    await waitFor(async () => (await providerOf(tag))?.abortedAtMs != null, {
      withinMs: 30_000,
      what: 'the provider to lose the connection',
    });
  });

  it.concurrent(
    'goes on when a caller with a key leaves, and a retry receives it from the start',
    async () => {
      const caller = await system.caller();
      const tag = newTag('retried');
      const words = `Tell a story. [[sim:tag=${tag}]] [[sim:stream_pause=400]]`;
      const first = await open(caller, words, { key: tag });
      await begun(first);
      first.leave();
      const retry = await open(caller, words, { key: tag, gateway: 1 });
      expect(retry.headers.get('idempotent-replayed')).toBe('true');
      await begun(retry);
      expect((await rows(caller))[0]?.stage).toBe('submitting');
      expect(await retry.ended).toBe(true);
      const provider = await providerOf(tag);
      expect(sha256(retry.bytes())).toBe(provider?.replySha256);
      expect(provider?.abortedAtMs).toBeNull();
      const replay = await open(caller, words, { key: tag });
      expect(await replay.ended).toBe(true);
      expect(sha256(replay.bytes())).toBe(provider?.replySha256);
      expect(await ended(caller)).toMatchObject({ outcome: 'succeeded' });
    },
  );

  it.concurrent('reaches a slow caller whole, although the transport keeps only a part of it', async () => {
    const caller = await system.caller();
    const tag = newTag('slow');
    const answer = await open(
      caller,
      `[[sim:tag=${tag}]] [[sim:stream_bytes=6000000]] [[sim:stream_pause=1]]`,
      { pauseMs: 15 },
    );
    expect(await answer.ended).toBe(true);
    expect(answer.bytes().length).toBeGreaterThan(6_000_000);
    expect(sha256(answer.bytes())).toBe((await providerOf(tag))?.replySha256);
    await system.ended(caller);
  });

  it.concurrent('is refused where a model has none', async () => {
    const caller = await system.caller();
    const answer = await caller.call('POST', '/v2/models/openai/whisper-1', {
      body: '{"file":"data:audio/mpeg;base64,//OAxA==","stream":true}',
    });
    expect(answer.status).toBe(422);
    expect(answer.json()['detail']).toEqual([expect.objectContaining({ loc: ['body', 'stream'] })]);
  });
});

failOnLeftovers();
