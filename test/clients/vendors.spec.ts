import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { APIError as OpenaiError, toFile } from 'openai';
import {
  failOnLeftovers,
  newTag,
  sha256,
  sharedSystem,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';
import { tinyImage } from './tiny-image.js';

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

const openaiOf = ({ key }: TestCaller) => new OpenAI({ baseURL: `${url()}/openai/v1`, apiKey: key });

const openaiClient = (caller: TestCaller): Client => {
  const client = openaiOf(caller);
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

const question = (content: string) => [{ role: 'user' as const, content }];

/** The same client with its older way to ask. */
const chatClient = (caller: TestCaller): Client => {
  const { chat } = openaiOf(caller);
  return {
    ...openaiClient(caller),
    run: async (words, model = 'gpt-5.5') => {
      const asked = { model, messages: question(words), max_completion_tokens: 100 };
      return (await chat.completions.create(asked)).choices[0]?.message.content ?? '';
    },
    async *stream(words, signal) {
      const asked = { model: 'gpt-5.5', messages: question(words), stream: true as const };
      yield* await chat.completions.create(asked, { signal });
    },
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

/** The values of a field of the form that the provider got; of files, their digests. */
const partOf = async (tag: string, name: string) => {
  const [entry] = await ledger(tag);
  const body = Buffer.from(entry?.bodyBase64 ?? '', 'base64');
  const [, boundary = ''] = /^--(\S+)\r\n/.exec(body.toString('latin1', 0, 200)) ?? [];
  const type = `multipart/form-data; boundary=${boundary}`;
  const parts = await new Response(body, { headers: { 'content-type': type } }).formData();
  return Promise.all(
    parts
      .getAll(name)
      .map(async (part) => (typeof part === 'string' ? part : sha256(Buffer.from(await part.arrayBuffer())))),
  );
};

const clients = [
  ['openai', openaiClient, 'gpt-5.5', 'gpt-5.55'],
  ['openai, by chat.completions', chatClient, 'gpt-5.5', 'gpt-5.55'],
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
    const client = openaiOf(await system.caller());
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

  it('gets the usage of a stream only if it asks for it, and is billed by it either way', async () => {
    const caller = await system.caller();
    const { chat } = openaiOf(caller);
    const sums = async (options: object) => {
      const tag = newTag('usage');
      const messages = question(`Say hello. [[sim:tag=${tag}]]`);
      const asked = { model: 'gpt-5.5', messages, stream: true as const, ...options };
      let usages = 0;
      for await (const { usage } of await chat.completions.create(asked)) usages += Number(usage != null);
      await system.ended(caller);
      const [row] = await system.sql<{ billed: string; basis: string }>(
        `SELECT billed_micros AS billed, basis FROM audit_record WHERE workspace_id = $1 ORDER BY run_id DESC LIMIT 1`,
        [caller.workspaceId],
      );
      return { usages, ...row };
    };
    const silent = await sums({});
    const asked = await sums({ stream_options: { include_usage: true } });
    expect(silent).toEqual({ usages: 0, billed: expect.any(String), basis: 'reported' });
    expect(asked).toEqual({ ...silent, usages: 1 });
  });

  it('edits images of almost 25 MiB, which the provider gets byte for byte as files of a form', async () => {
    const client = openaiOf(await system.caller());
    const tag = newTag('edit');
    const images = [12, 12].map((mebibytes, index) =>
      Buffer.concat([tinyImage, Buffer.alloc(mebibytes * 1024 * 1024, index)]),
    );
    const { data } = await client.images.edit({
      model: 'gpt-image-2',
      prompt: `A hat [[sim:tag=${tag}]]`,
      image: await Promise.all(images.map((image) => toFile(image, 'otter.png', { type: 'image/png' }))),
      mask: await toFile(tinyImage, 'mask.png', { type: 'image/png' }),
      n: 1,
      size: '1024x1024',
    });
    expect(data?.[0]?.b64_json).toEqual(expect.any(String));
    expect(await partOf(tag, 'image[]')).toEqual(images.map(sha256));
    expect(await partOf(tag, 'mask')).toEqual([sha256(tinyImage)]);
    expect([await partOf(tag, 'n'), await partOf(tag, 'model')]).toEqual([['1'], ['gpt-image-2']]);
  });

  it('transcribes, and learns which formats the router refuses', async () => {
    const client = openaiOf(await system.caller());
    const tag = newTag('speech');
    const asked = { file: await toFile(Buffer.from('RIFF....WAVE'), 'a.wav'), model: 'whisper-1' };
    const { text } = await client.audio.transcriptions.create({
      ...asked,
      prompt: `[[sim:tag=${tag}]]`,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      temperature: 0.5,
    });
    expect(text).not.toBe('');
    expect(await partOf(tag, 'timestamp_granularities[]')).toEqual(['word', 'segment']);
    expect(await partOf(tag, 'temperature')).toEqual(['0.5']);
    for (const format of ['text', 'srt', 'vtt'] as const)
      await expect(client.audio.transcriptions.create({ ...asked, response_format: format })).rejects.toThrow(
        /422 .*response_format: /,
      );
  });

  it('learns that the router keeps no conversation at the provider', async () => {
    const { responses, chat } = openaiOf(await system.caller());
    const asked = { model: 'gpt-5.5', input: 'And then?' };
    for (const members of [
      { background: true },
      { previous_response_id: 'resp_1' },
      { conversation: 'conv_1' },
      { store: true },
    ])
      await expect(responses.create({ ...asked, ...members })).rejects.toThrow(
        `422 The model does not accept this input. ${Object.keys(members).join()}: `,
      );
    const messages = question('And then?');
    await expect(chat.completions.create({ model: 'gpt-5.5', messages, store: true })).rejects.toThrow(
      '422 The model does not accept this input. store: ',
    );
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

describe('the official client @google/genai', () => {
  it('embeds one text and several by the provider’s own body, and is billed for them', async () => {
    const caller = await system.caller();
    const { models } = new GoogleGenAI({
      apiKey: caller.key,
      httpOptions: { baseUrl: `${url()}/gemini` },
    });
    const billed = async (texts: string[]) => {
      const tag = newTag('embed');
      const contents = texts.map((text) => `${text} [[sim:tag=${tag}]]`);
      const config = { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 768 };
      const { embeddings = [] } = await models.embedContent({
        model: 'gemini-embedding-001',
        contents,
        config,
      });
      expect(embeddings.map(({ values }) => values?.length)).toEqual(texts.map(() => 3));
      const [entry, ...others] = await ledger(tag);
      expect(others).toEqual([]);
      const sent = { content: expect.anything(), ...config, model: 'models/gemini-embedding-001' };
      expect(JSON.parse(Buffer.from(entry?.bodyBase64 ?? '', 'base64').toString())).toEqual({
        requests: texts.map(() => sent),
      });
      await system.ended(caller);
      const [row] = await system.sql<{ billed: string }>(
        `SELECT billed_micros AS billed FROM run WHERE workspace_id = $1 ORDER BY id DESC LIMIT 1`,
        [caller.workspaceId],
      );
      return Number(row?.billed);
    };
    const one = await billed(['The harbour lights go out one by one.']);
    expect(one).toBeGreaterThan(0);
    expect(await billed(['The harbour lights go out.', 'The bridge is closed.'])).toBeGreaterThan(one);
    await expect(models.embedContent({ model: 'gemini-embeding-001', contents: 'x' })).rejects.toThrow(
      'There is no such model. Did you mean gemini-embedding-001',
    );
  });
});

failOnLeftovers();
