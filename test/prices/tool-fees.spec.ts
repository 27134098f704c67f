import { describe, expect, it } from '@jest/globals';
import { loadCatalog, quote } from '#catalog';
import { providerList, readReply, reportedMicros } from '#providers';
import { arrivedMicros } from '../../apps/worker/src/runs/arrived-price.js';
import { streamPrice } from '../../libs/catalog/src/quote.js';

const { models } = await loadCatalog();

function modelOf(id: string) {
  const model = models.find((each) => each.id === id);
  if (!model) throw new Error(`there is no ${id}`);
  return model;
}

const bodyOf = (id: string, more: object) => ({ ...(modelOf(id).example as object), ...more });
const quoteOf = (id: string, more: object) => quote(modelOf(id), bodyOf(id, more));
const replyOf = (reply: object) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(reply)),
});
/** The fee in the bill for a reply, in cents: what it costs more than without the tool. */
const feeOf = (id: string, more: object, reply: object): number => {
  const [withTool, without] = [more, {}].map((each) =>
    reportedMicros(quoteOf(id, each).reported, replyOf(reply)),
  );
  return (Number(withTool) - Number(without)) / 10_000;
};

const search = { type: 'web_search_call', action: { type: 'search', query: 'a', queries: ['a', 'b'] } };
const openPage = { type: 'web_search_call', action: { type: 'open_page', url: 'https://a.example' } };
const coded = (container: string) => ({ type: 'code_interpreter_call', container_id: container });
const openaiReply = (...output: object[]) => ({
  output: [...output, { type: 'message', content: [] }],
  usage: { input_tokens: 9000, output_tokens: 100 },
});
const geminiReply = (...queries: string[][]) => ({
  candidates: queries.map((webSearchQueries) => ({ groundingMetadata: { webSearchQueries } })),
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10 },
});
const anthropicReply = (searches: number) => ({
  usage: { input_tokens: 9000, output_tokens: 10, server_tool_use: { web_search_requests: searches } },
});

/** The part of a bill that is due to tools, in micro-dollars, if the caller leaves a stream after these events. */
const leftAfter = (id: string, tools: object[], events: readonly object[]) => {
  const model = modelOf(id);
  const definition = providerList.find(({ name }) => name === model.provider);
  const adapter = definition?.create(definition.defaultBase, {});
  if (!adapter) throw new Error(`there is no ${model.provider}`);
  const reply = {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
    cut: 'cancelled' as const,
  };
  const run = { runId: 'r', model: id, upstream: model.upstream, streams: true };
  const paid = (more: object) => {
    const body = bodyOf(id, { ...more, stream: true });
    const price = streamPrice(model, body, model.stream?.maxTokens ?? []);
    const { reported } = quote(model, body);
    const asked = { phase: 'submit', run, reported, assets: [], calls: price.tools?.calls } as const;
    return arrivedMicros({ ...price, isLive: true }, readReply(adapter, asked, reply)) ?? NaN;
  };
  return paid({ tools }) - paid({});
};

const done = (item: object, output_index: number) => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const begun = { type: 'response.created', response: { output: [] } };
const searching = (index: number, name: string) => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'server_tool_use', name },
});
const message = {
  type: 'message_start',
  message: { content: [], usage: { input_tokens: 10, output_tokens: 1 } },
};
const grounded = (...webSearchQueries: string[]) => ({
  candidates: [{ index: 0, content: { parts: [{ text: 'a' }] }, groundingMetadata: { webSearchQueries } }],
  usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
});

const cents = (micros: number | undefined) => Math.round(Number(micros) / 1000) / 10;
const upperOf = (id: string, more: object) => quoteOf(id, more).upperMicros;
const likelyOf = (id: string, more: object) => Number(quoteOf(id, more).likelyMicros);
const searchLimitedTo = (uses?: number) => ({ tools: [{ type: 'web_search_20260318', max_uses: uses }] });

describe('a tool that runs at the provider is billed by the calls in the reply', () => {
  it.each<[string, string, object, object, number]>([
    // https://developers.openai.com/api/docs/pricing
    [
      'searches, not pages',
      'openai/gpt-5.5',
      { type: 'web_search' },
      openaiReply(search, openPage, search),
      2,
    ],
    ['an older version', 'openai/o3', { type: 'web_search_2025_08_26' }, openaiReply(search), 1],
    ['none', 'openai/gpt-5.5', { type: 'web_search' }, openaiReply(), 0],
    [
      'a call without an action',
      'openai/gpt-5.5',
      { type: 'web_search' },
      openaiReply({ type: 'web_search_call' }),
      0,
    ],
    [
      'a computer’s action',
      'openai/gpt-5.5',
      { type: 'web_search' },
      openaiReply({ action: { type: 'click' } }),
      0,
    ],
    ['one container', 'openai/gpt-5.5', { type: 'code_interpreter' }, openaiReply(coded('a'), coded('a')), 3],
    [
      'two containers',
      'openai/gpt-5.5',
      { type: 'code_interpreter' },
      openaiReply(coded('a'), coded('b')),
      6,
    ],
    // https://cloud.google.com/vertex-ai/generative-ai/pricing
    ['a prompt', 'vertexai/gemini-2.5-flash', { googleSearch: {} }, geminiReply(['a', 'b'], ['c']), 3.5],
    ['no prompt', 'vertexai/gemini-2.5-pro', { googleSearch: {} }, geminiReply([]), 0],
    [
      'queries',
      'vertexai/gemini-3.5-flash',
      { google_search: {} },
      geminiReply(['a', 'b', 'a', ''], ['c']),
      4.2,
    ],
    // https://platform.claude.com/docs/en/about-claude/pricing
    [
      'searches',
      'anthropic/claude-opus-5',
      { type: 'web_search_20250305', name: 'web_search' },
      anthropicReply(2),
      2,
    ],
    [
      'searches',
      'anthropic/claude-haiku-4-5-20251001',
      { type: 'web_search_20260318' },
      anthropicReply(1),
      1,
    ],
  ])('%s: %s', (_, id, tool, reply, cents) => {
    expect(feeOf(id, { tools: [tool] }, reply)).toBeCloseTo(cents, 6);
  });

  it('once, also if the input has two versions of it', () => {
    const tools = [{ type: 'web_search' }, { type: 'web_search_2025_08_26' }];
    expect(feeOf('openai/gpt-5.5', { tools }, openaiReply(search))).toBeCloseTo(1, 6);
  });

  it.each<[string, string, object, object[], number, number]>([
    [
      'two searches',
      'openai/gpt-5.5',
      { type: 'web_search' },
      [begun, done(search, 0), done(openPage, 1), done(search, 2)],
      20_000,
      150_000,
    ],
    [
      'none',
      'openai/gpt-5.5',
      { type: 'web_search' },
      [begun, done({ type: 'message', content: [] }, 0)],
      0,
      0,
    ],
    [
      'a container',
      'openai/gpt-5.5',
      { type: 'code_interpreter' },
      [begun, done(coded('a'), 0)],
      30_000,
      25_000,
    ],
    [
      'two searches',
      'anthropic/claude-opus-5',
      { type: 'web_search_20260318', name: 'web_search' },
      [message, searching(0, 'web_search'), searching(1, 'web_fetch'), searching(2, 'web_search')],
      20_000,
      150_000,
    ],
    ['none', 'anthropic/claude-opus-5', { type: 'web_search_20260318', name: 'web_search' }, [message], 0, 0],
    [
      'three queries',
      'vertexai/gemini-3.6-flash',
      { googleSearch: {} },
      [grounded('a', 'b'), grounded('c')],
      42_000,
      0,
    ],
  ])('in a stream that its caller leaves: %s of %s', (_, id, tool, events, feeMicros, tokenMicros) => {
    const paid = leftAfter(id, [tool], events);
    // The text of the tool itself, and rounding.
    expect(paid).toBeGreaterThanOrEqual(feeMicros + tokenMicros);
    expect(paid).toBeLessThan(feeMicros + tokenMicros + 300);
  });

  it('once, whatever the order in which the items end', () => {
    const model = modelOf('openai/gpt-5.5');
    const openai = providerList.find(({ name }) => name === 'openai');
    const adapter = openai?.create(openai.defaultBase, {});
    const whole = {
      ...openaiReply(),
      status: 'completed',
      output: [{ type: 'message', content: [] }, search],
    };
    const events = [
      begun,
      done(search, 1),
      done(whole.output[0] ?? {}, 0),
      { type: 'response.completed', response: whole },
    ];
    const reply = {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
    };
    const run = { runId: 'r', model: model.id, upstream: model.upstream, streams: true };
    const micros = (more: object) =>
      adapter &&
      readReply(
        adapter,
        { phase: 'submit', run, reported: quoteOf(model.id, more).reported, assets: [] },
        reply,
      ).reportedMicros;
    expect(Number(micros({ tools: [{ type: 'web_search' }] })) - Number(micros({}))).toBe(10_000);
  });

  it('also if the input has the tool in one of its items', () => {
    const tools = [{ type: 'web_search' }];
    const input = [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'a' },
    ];
    expect(feeOf('openai/gpt-5.5', { input }, openaiReply(search))).toBeCloseTo(1, 6);
    expect(Number(quoteOf('openai/gpt-5.5', { input }).likelyMicros)).toBeLessThan(500_000);
  });
});

describe('a tool that runs at the provider reserves', () => {
  it('its likely calls and tokens, while its bound is the whole context and the most calls', () => {
    const plain = quoteOf('openai/gpt-5.5', {});
    const likely = quoteOf('openai/gpt-5.5', { tools: [{ type: 'web_search' }] });
    const unknown = quoteOf('openai/gpt-5.5', { tools: [{ type: 'unknown_20270101' }] });
    // 30,000 tokens at 5 dollars a million and three searches at a cent.
    expect(cents(likely.likelyMicros) - cents(plain.upperMicros)).toBeCloseTo(18, 0);
    expect(likely.upperMicros - unknown.upperMicros).toBe(1_000_000);
    expect(unknown.likelyMicros).toBeUndefined();
  });

  it('as many calls as the input allows', () => {
    const openai = { tools: [{ type: 'web_search' }] };
    const limited = { ...openai, max_tool_calls: 2 };
    expect(upperOf('openai/gpt-5.5', openai) - upperOf('openai/gpt-5.5', limited)).toBe(980_000);
    expect(likelyOf('openai/gpt-5.5', openai) - likelyOf('openai/gpt-5.5', limited)).toBeCloseTo(10_000, -3);
    const [id] = ['anthropic/claude-opus-5'];
    expect(upperOf(id, searchLimitedTo()) - upperOf(id, searchLimitedTo(5))).toBe(250_000);
    expect(likelyOf(id, searchLimitedTo(1))).toBeLessThan(likelyOf(id, searchLimitedTo(5)));
  });

  it('no more than five dollars have room for, in a turn of an agent with a search', () => {
    const turn = {
      instructions: 'x'.repeat(40_000),
      tools: [{ type: 'web_search', external_web_access: false }],
    };
    for (const model of models.filter(({ providerTools }) => providerTools?.['web_search'] !== undefined)) {
      const { likelyMicros } = quote(model, { ...(model.example as object), ...turn });
      expect([model.id, Number(likelyMicros) < 2_000_000 || model.id.endsWith('-pro')]).toEqual([
        model.id,
        true,
      ]);
    }
  });

  it('nothing without the tool', () => {
    for (const model of models.filter(({ providerTools }) => providerTools !== undefined)) {
      const { reported } = quote(model, model.example);
      expect(reported).toHaveLength(model.price.reported.length);
    }
  });
});
