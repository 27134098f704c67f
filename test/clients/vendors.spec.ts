import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { APIError as OpenaiError } from 'openai';
import {
  failOnLeftovers,
  newTag,
  sha256,
  sharedSystem,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';

const [transport = 'postgres'] = transports();
const system = sharedSystem(transport);
const url = () => system.gateways[0]?.url ?? '';

/** Translates the calls of every client into the same words. */
interface Client {
  /** The client as its documents show it, with our base URL and key. */
  models: () => Promise<string[]>;
  run: (words: string, model?: string) => Promise<string>;
  stream: (words: string, signal?: AbortSignal) => AsyncIterable<unknown>;
  /** The status and text of a failed call. */
  failure: (error: unknown) => { status: number | undefined; text: string };
}

const openaiClient = ({ key }: TestCaller): Client => {
  const client = new OpenAI({ baseURL: `${url()}/openai/v1`, apiKey: key });
  return {
    models: async () => {
      const ids: string[] = [];
      for await (const model of client.models.list()) ids.push(model.id);
      return ids;
    },
    run: async (input, model = 'gpt-5.5') =>
      (await client.responses.create({ model, input, max_output_tokens: 100 })).output_text,
    async *stream(input, signal) {
      yield* await client.responses.create({ model: 'gpt-5.5', input, stream: true }, { signal });
    },
    failure: (error) =>
      error instanceof OpenaiError
        ? { status: error.status, text: error.message }
        : { status: undefined, text: String(error) },
  };
};

const message = (content: string, model = 'claude-opus-5') => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content }],
});

const anthropicClient = ({ key }: TestCaller): Client => {
  const client = new Anthropic({ baseURL: `${url()}/anthropic`, apiKey: key });
  return {
    models: async () => {
      const ids: string[] = [];
      for await (const model of client.models.list()) ids.push(model.id);
      return ids;
    },
    run: async (words, model) => {
      const [block] = (await client.messages.create(message(words, model))).content;
      return block?.type === 'text' ? block.text : '';
    },
    async *stream(words, signal) {
      yield* await client.messages.create({ ...message(words), stream: true }, { signal });
    },
    failure: (error) =>
      error instanceof AnthropicError
        ? { status: error.status, text: error.message }
        : { status: undefined, text: String(error) },
  };
};

const geminiClient = ({ key }: TestCaller): Client => {
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${url()}/gemini` } });
  return {
    models: async () => {
      const names: string[] = [];
      for await (const { name = '' } of await client.models.list()) names.push(name.replace('models/', ''));
      return names;
    },
    run: async (contents, model = 'gemini-2.5-flash') =>
      (await client.models.generateContent({ model, contents, config: { maxOutputTokens: 100 } })).text ?? '',
    async *stream(contents, signal) {
      const config = { maxOutputTokens: 100, ...(signal && { abortSignal: signal }) };
      yield* await client.models.generateContentStream({ model: 'gemini-2.5-flash', contents, config });
    },
    failure: (error) => ({
      status: (error as { status?: number }).status,
      text: error instanceof Error ? error.message : String(error),
    }),
  };
};

const ledger = (tag: string) => system.provider.ledger(tag);
const countOf = async (events: AsyncIterable<unknown>) => {
  let count = 0;
  for await (const _ of events) count += 1;
  return count;
};

const clients = [
  ['openai', openaiClient, 'gpt-5.5', 'gpt-5.55'],
  ['@anthropic-ai/sdk', anthropicClient, 'claude-opus-5', 'claude-opus-55'],
  ['@google/genai', geminiClient, 'gemini-2.5-flash', 'gemini-2.5-flush'],
] as const;

describe.each(clients)('the official client %s', (_name, clientOf, known, misspelt) => {
  let caller: TestCaller;
  let client: Client;
  beforeAll(async () => {
    caller = await system.caller();
    client = clientOf(caller);
  });
  afterEach(() => system.ended(caller));

  const failureOf = async (act: Promise<unknown>) =>
    act.then(
      () => {
        throw new Error('the call succeeded');
      },
      (error: unknown) => client.failure(error),
    );

  it('lists the models', async () => {
    expect(await client.models()).toContain(known);
  });

  it('runs a model, as a run that is recorded and billed', async () => {
    const tag = newTag('sdk');
    expect(await client.run(`Say hello. [[sim:tag=${tag}]]`)).not.toBe('');
    expect(await ledger(tag)).toHaveLength(1);
    const [row] = await system.sql<{ billed: string; route: string }>(
      `SELECT billed_micros AS billed FROM run WHERE workspace_id = $1 ORDER BY id DESC LIMIT 1`,
      [caller.workspaceId],
    );
    expect(Number(row?.billed)).toBeGreaterThan(0);
  });

  it('streams', async () => {
    const tag = newTag('sdk');
    expect(await countOf(client.stream(`Say hello. [[sim:tag=${tag}]]`))).toBeGreaterThan(1);
    expect(await ledger(tag)).toHaveLength(1);
  });

  it('understands the error of an unknown model, with a suggestion', async () => {
    const { status, text } = await failureOf(client.run('x', misspelt));
    expect(status).toBe(404);
    expect(text).toContain(`There is no such model. Did you mean ${known}`);
  });

  it('does not pay for a second run after a failure of the provider', async () => {
    const tag = newTag('sdk');
    const { status } = await failureOf(client.run(`[[sim:tag=${tag}]] [[sim:html]]`));
    expect(status).toBe(502);
    expect(await ledger(tag)).toHaveLength(1);
  });

  it('stops the provider when it leaves a stream', async () => {
    const tag = newTag('sdk');
    const leaving = new AbortController();
    const reading = (async () => {
      for await (const _ of client.stream(`[[sim:tag=${tag}]] [[sim:stream_hang]]`, leaving.signal))
        leaving.abort();
    })();
    await reading.catch(() => {});
    await waitFor(async () => (await ledger(tag))[0]?.abortedAtMs != null, {
      withinMs: 30_000,
      what: 'the provider to lose the connection',
    });
    expect(await ledger(tag)).toHaveLength(1);
  });
});

describe('the official client openai', () => {
  it('gets images, speech and embeddings', async () => {
    const { key } = await system.caller();
    const client = new OpenAI({ baseURL: `${url()}/openai/v1`, apiKey: key });
    const { data: images } = await client.images.generate({ model: 'gpt-image-1.5', prompt: 'a bridge' });
    expect(images?.[0]).toBeDefined();
    const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'ash', input: 'Good day' });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    expect((await speech.arrayBuffer()).byteLength).toBeGreaterThan(0);
    const { data } = await client.embeddings.create({
      model: 'text-embedding-3-small',
      input: 'Good day',
      encoding_format: 'float',
    });
    expect(data[0]?.embedding.length).toBeGreaterThan(0);
  });

  it('sends a body of 30 MiB with the model at its end, byte for byte', async () => {
    const caller = await system.caller();
    const tag = newTag('large');
    const image = `data:image/png;base64,${'A'.repeat(30 * 1024 * 1024)}`;
    const content = [
      { type: 'input_text', text: `[[sim:tag=${tag}]]` },
      { type: 'input_image', image_url: image },
    ];
    const body = JSON.stringify({
      input: [{ role: 'user', content }],
      max_output_tokens: 16,
      model: 'gpt-5.5',
    });
    const answer = await fetch(`${url()}/openai/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body,
    });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ model: 'gpt-5.5' }),
    ]);
    expect((await system.provider.ledger(tag))[0]?.bodySha256).toBe(sha256(Buffer.from(body)));
  });
});

failOnLeftovers();
