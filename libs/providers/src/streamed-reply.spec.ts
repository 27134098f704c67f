import { describe, expect, it } from '@jest/globals';
import type { HttpReply, ProviderAdapter, StreamCut } from './contract.js';
import { readReply } from './read-reply.js';
import { run } from './testing/declared-adapter.js';
import { providerOf } from './testing/provider-of.js';

const eventsOf = (...events: readonly (object | string)[]): string =>
  events.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('');

const stream = (events: string, cut?: StreamCut): HttpReply => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  body: new TextEncoder().encode(events),
  ...(cut && { cut }),
});

const builtIn = (name: string): ProviderAdapter => {
  const provider = providerOf(name);
  return provider.create(provider.defaultBase, {});
};

const anthropic = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Good ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'day.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 15 } },
  { type: 'message_stop' },
];

const responses = [
  { type: 'response.created', response: { status: 'in_progress', error: null, output: [], usage: null } },
  { type: 'response.output_text.delta', output_index: 0, delta: 'Good day.' },
  {
    type: 'response.completed',
    response: {
      status: 'completed',
      error: null,
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Good day.' }] }],
      usage: { input_tokens: 10, output_tokens: 15 },
    },
  },
];

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'gen-1',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const chat = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Good ' }),
  chunk({ content: 'day.' }),
  chunk({ content: '' }, 'stop'),
  { id: 'gen-1', choices: [], usage: { prompt_tokens: 10, completion_tokens: 15 } },
  '[DONE]',
];

const part = (text: string, others: object = {}, usage: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...others }],
  usageMetadata: { promptTokenCount: 10, ...usage },
});
const gemini = [
  part('Good ', {}, { candidatesTokenCount: 2 }),
  part('day.', { finishReason: 'STOP' }, { candidatesTokenCount: 15 }),
];

interface Protocol {
  adapter: ProviderAdapter;
  upstream: Record<string, string>;
  events: readonly (object | string)[];
  /** The number of events that come before the final usage, and what they and their text cost. */
  beforeUsage: number;
  billedBeforeUsage: number | undefined;
  /** The cost of all events but the last: by the final usage, or by an earlier one and the text. */
  billedBeforeEnd: {
    reportedMicros?: number;
    writtenTokens?: number;
    arrived: { tokens: number; micros?: number };
  };
  usage: [input: string, output: string];
  error: object;
}

const protocols: Record<string, Protocol> = {
  'Anthropic Messages': {
    adapter: builtIn('anthropic'),
    upstream: { path: 'messages' },
    events: anthropic,
    beforeUsage: 6,
    // The tokens of the input were reported first, and three were written.
    billedBeforeUsage: 310,
    billedBeforeEnd: { reportedMicros: 1510, writtenTokens: 15, arrived: { tokens: 5 } },
    usage: ['/usage/input_tokens', '/usage/output_tokens'],
    error: { type: 'error', error: { type: 'api_error', message: 'Internal server error' } },
  },
  'OpenAI Responses': {
    adapter: builtIn('openai'),
    upstream: { path: 'responses', protocol: 'text' },
    events: responses,
    beforeUsage: 2,
    billedBeforeUsage: undefined,
    billedBeforeEnd: { arrived: { tokens: 3 } },
    usage: ['/usage/input_tokens', '/usage/output_tokens'],
    error: { type: 'error', code: 'server_error', message: 'The server had an error.', param: null },
  },
  'chat completions': {
    adapter: builtIn('openrouter'),
    upstream: { path: 'chat/completions' },
    events: chat,
    beforeUsage: 4,
    billedBeforeUsage: undefined,
    billedBeforeEnd: { reportedMicros: 1510, writtenTokens: 15, arrived: { tokens: 3 } },
    usage: ['/usage/prompt_tokens', '/usage/completion_tokens'],
    error: { error: { code: 502, message: 'Provider disconnected' }, choices: [] },
  },
  Gemini: {
    adapter: builtIn('google'),
    upstream: { path: 'gemini-2.5-flash', protocol: 'text' },
    events: gemini,
    beforeUsage: 1,
    billedBeforeUsage: 210,
    billedBeforeEnd: { arrived: { tokens: 2, micros: 210 } },
    usage: ['/usageMetadata/promptTokenCount', '/usageMetadata/candidatesTokenCount'],
    error: { error: { code: 500, message: 'An internal error.', status: 'INTERNAL' } },
  },
};

const read = (
  { adapter, upstream, usage: [input, output] }: Protocol,
  reply: HttpReply,
  { streams = true, hiddenTokens = 0 } = {},
) =>
  readReply(
    adapter,
    {
      phase: 'submit',
      hiddenTokens,
      run: { ...run, upstream, ...(streams && { streams }) },
      reported: [
        { at: input, micros: 1 },
        { at: output, micros: 100 },
      ],
      assets: [],
    },
    reply,
  );

const plain = (usage: object, status = 200): HttpReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(usage)),
});

const failure = (failureClass: string) => ({
  kind: 'failed',
  failure: { class: failureClass, retry: 'never' },
});

describe.each(Object.entries(protocols))('a stream of %s', (_name, protocol) => {
  const whole = eventsOf(...protocol.events);

  it('is the result as it arrived, with the usage of its last event', () => {
    const reply = stream(whole);
    expect(read(protocol, reply)).toMatchObject({
      outcome: {
        kind: 'succeeded',
        output: { mediaType: 'text/event-stream; charset=utf-8', body: reply.body },
      },
      reportedMicros: 1510,
      writtenTokens: 15,
      arrived: { tokens: expect.any(Number) },
    });
  });

  it('reports the tokens that its model wrote, as a reply without a stream does', () => {
    const [, object = '', member = ''] = protocol.usage[1].split('/');
    const written = (tokens: unknown, status?: number) =>
      read(protocol, plain({ [object]: { [member]: tokens } }, status), { streams: false }).writtenTokens;
    expect(written(7)).toBe(7);
    expect([written(0), written(-1), written(1e300), written('many'), written(7, 500)]).toEqual(
      Array(5).fill(undefined),
    );
  });

  it('without the event that was withheld is what the caller received', () => {
    const passedOn = new TextEncoder().encode('data: part\n\n');
    expect(read(protocol, { ...stream(whole), passedOn }).outcome).toMatchObject({
      output: { body: passedOn },
    });
  });

  it('is a success if it is cut after its end', () => {
    expect(read(protocol, stream(whole, 'reset')).outcome.kind).toBe('succeeded');
  });

  it.each([
    ['timeout', failure('provider_timeout')],
    ['reset', failure('provider_failed')],
    ['oversize', failure('unreadable')],
    ['cancelled', { kind: 'canceled' }],
    [undefined, failure('provider_failed')],
  ] as const)('fails if it is cut by %s before its end', (cut, outcome) => {
    const events = protocol.events.slice(0, protocol.beforeUsage);
    const ended = read(protocol, stream(eventsOf(...events) + 'data: {"typ', cut));
    expect(ended).toMatchObject({ outcome });
    expect(ended.reportedMicros).toBeUndefined();
    expect(ended.arrived?.micros).toBe(protocol.billedBeforeUsage);
  });

  it('counts what its model wrote unseen, unless the provider broke off or has reported all of it', () => {
    const events = eventsOf(...protocol.events.slice(0, protocol.beforeUsage));
    const hiddenTokens = 50;
    expect(read(protocol, stream(events, 'cancelled'), { hiddenTokens }).arrived).toMatchObject({
      tokens: 50,
      ...(protocol.billedBeforeUsage !== undefined && { micros: 5010 }),
    });
    expect(read(protocol, stream(events, 'reset'), { hiddenTokens }).arrived?.tokens).toBeLessThan(10);
    expect(read(protocol, stream(whole), { hiddenTokens }).reportedMicros).toBe(1510);
  });

  it('that breaks off within its last event is billed by the usage so far', () => {
    const withoutEnd = whole.slice(0, whole.lastIndexOf('data:') + 10);
    const { outcome, ...cost } = read(protocol, stream(withoutEnd, 'reset'));
    expect(outcome).toMatchObject(failure('provider_failed'));
    expect(cost).toEqual(protocol.billedBeforeEnd);
  });

  it('with an error fails like a reply with the error, and is never repeated', () => {
    const events = [...protocol.events.slice(0, 2), protocol.error, ...protocol.events.slice(-1)];
    expect(read(protocol, stream(eventsOf(...events))).outcome).toMatchObject(failure('provider_failed'));
  });

  it('is unreadable if the run did not request it', () => {
    expect(read(protocol, stream(whole), { streams: false }).outcome).toMatchObject(failure('unreadable'));
  });

  it('is read from any line ends', () => {
    for (const end of ['\r\n', '\r'])
      expect(read(protocol, stream(whole.replaceAll('\n', end)))).toMatchObject({
        outcome: { kind: 'succeeded' },
        reportedMicros: 1510,
      });
  });
});

describe('a request for a stream', () => {
  const { adapter, upstream } = protocols['Anthropic Messages'] as Protocol;
  const body = new TextEncoder().encode('{ "stream" : true,"seed":18446744073709551615 }');

  it('is sent byte for byte and accepts events', () => {
    const call = adapter.submit({ ...run, upstream, body, streams: true });
    expect(call).toMatchObject({ body, headers: { accept: 'text/event-stream' }, stream: {} });
    expect(call.stream?.withholds).toBeUndefined();
  });

  it('of an earlier release is sent as false', () => {
    const call = adapter.submit({ ...run, upstream, body });
    expect(Buffer.from(call.body ?? []).toString()).toBe('{ "stream" : false,"seed":18446744073709551615 }');
    expect(call).not.toHaveProperty('stream');
  });

  it('has another address at Gemini', () => {
    const google = protocols['Gemini'] as Protocol;
    const call = google.adapter.submit({ ...run, upstream: google.upstream, streams: true });
    expect(call.url).toMatch(/\/gemini-2\.5-flash:streamGenerateContent\?alt=sse$/);
    expect(call.body).toEqual(run.body);
  });

  it('of a picture of Gemini is billed by its last report, and not by an earlier one that lacks the picture', () => {
    const google = protocols['Gemini'] as Protocol;
    const [prompt] = google.usage;
    const upstream = { path: 'x', method: 'generateContent', protocol: 'image' };
    const pictured: Protocol = { ...google, upstream, usage: [prompt, prompt] };
    const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo'.repeat(100) } };
    const first = {
      candidates: [{ content: { parts: [picture] }, index: 0 }],
      usageMetadata: { promptTokenCount: 10 },
    };
    const last = part('', { finishReason: 'STOP' }, { candidatesTokenCount: 15 });
    const left = read(pictured, stream(eventsOf(first), 'cancelled'));
    expect(left.arrived).toEqual({ tokens: expect.any(Number) });
    expect(read(pictured, stream(eventsOf(first, last)))).toMatchObject({
      outcome: { kind: 'succeeded' },
      reportedMicros: 1010,
    });
  });

  it('is read as an ordinary reply if the provider ignores it', () => {
    const message = { type: 'message', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' };
    const reply = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: new TextEncoder().encode(JSON.stringify(message)),
    };
    expect(read(protocols['Anthropic Messages'] as Protocol, reply)).toMatchObject({
      outcome: { kind: 'succeeded', output: { mediaType: 'application/json', body: reply.body } },
    });
  });

  it('gets the error of an overloaded provider, which is not repeated', () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(read(protocols['Anthropic Messages'] as Protocol, stream(eventsOf(overloaded))).outcome).toEqual({
      kind: 'failed',
      failure: expect.objectContaining({ class: 'provider_failed', retry: 'never' }),
    });
  });

  it.each([
    ['anthropic', { type: 'billing_error' }, 'balance'],
    ['openrouter', { code: 402, metadata: { limit_source: 'openrouter_key_limit' } }, 'quota'],
  ])('reports an account problem of %s in a stream', (name, error, account) => {
    const reply = stream(eventsOf({ type: 'error', error }));
    const outcome = builtIn(name).onSubmit({ ...run, upstream: { path: 'x' }, streams: true }, reply);
    expect(outcome).toMatchObject({ failure: { class: 'provider_account', account, retry: 'never' } });
  });
});

it('the record of a stream has its cost, once the provider has written it', () => {
  const { adapter, upstream } = protocols['chat completions'] as Protocol;
  const left = stream(eventsOf(...chat.slice(0, 1)), 'cancelled');
  const record = adapter.streamRecord?.({ ...run, upstream, streams: true }, left);
  expect(record?.call).toEqual({ method: 'GET', url: 'https://openrouter.ai/api/v1/generation?id=gen-1' });
  const costIn = (body: string, status = 200) => {
    const found = record?.read({ status, headers: {}, body: new TextEncoder().encode(body) });
    return found && JSON.parse(Buffer.from(found.body).toString());
  };
  expect(costIn('{"data":{"id":"gen-1","total_cost":0.5}}')).toEqual({ usage: { cost: 0.5 } });
  expect(costIn('{"error":{"code":404}}', 404)).toBeUndefined();
  expect(adapter.streamRecord?.({ ...run, upstream, streams: true }, stream(''))).toBeUndefined();
  const other = protocols['Anthropic Messages'] as Protocol;
  const begun = stream(eventsOf(...other.events.slice(0, 1)), 'cancelled');
  expect(
    other.adapter.streamRecord?.({ ...run, upstream: other.upstream, streams: true }, begun),
  ).toBeUndefined();
});
