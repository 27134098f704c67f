import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { checkInput, loadCatalog, type Model } from '#catalog';
import { type ProviderAdapter, providerList, readReply, type Run } from '#providers';
import { withMembersFirst } from '#schemas';
import { collectEvents } from '../../apps/worker/src/calls/event-stream.js';
import { arrivedMicros } from '../../apps/worker/src/runs/arrived-price.js';
import {
  answers,
  chatCompletions,
  completions,
  type EventForm,
  messages,
  responses,
} from '../../apps/simulator/src/event-forms.js';
import { Order } from '../../apps/simulator/src/prices/order.js';
import { billOf } from '../../apps/simulator/src/prices/price-list.js';
import {
  hiddenTokens,
  tokensOfText,
  tokensPerSecond,
  withUsage,
} from '../../apps/simulator/src/stream-usage.js';
import { parsedInput } from '../../libs/catalog/src/testing/parsed-input.js';
import { withWords } from '../providers/rows.js';

/** How the simulator streams the answers of each protocol. */
const forms: Readonly<Record<string, EventForm>> = {
  'anthropic ': messages,
  'bytedance text': responses,
  'google text': answers,
  'openai chat': chatCompletions,
  'openai text': responses,
  'openrouter ': completions,
};
const formOf = ({ provider, upstream }: Model) => forms[`${provider} ${upstream['protocol'] ?? ''}`];

/** A whole answer of each provider's API with this text. */
const repliesWith = (text: string): Readonly<Record<string, object>> => {
  const chat = {
    id: 'gen-1',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
  const response = {
    id: 'resp_1',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [
      { id: 'rs_1', type: 'reasoning', summary: [] },
      { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text, annotations: [] }] },
    ],
    usage: { input_tokens: 0, output_tokens: 0 },
  };
  return {
    'anthropic ': {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 0, output_tokens: 0 },
    },
    'bytedance text': response,
    'google text': {
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, thoughtsTokenCount: 0 },
    },
    'openai chat': chat,
    'openai text': response,
    'openrouter ': chat,
  };
};

/** The answer's text. Its characters have one to four bytes. */
const text = 'A lighthouse at dusk. 海边的灯塔在黄昏时亮起来。 Der Leuchtturm grüßt. 🌊 '.repeat(40);
const reasonSeconds = 20;
/** Until the first event. */
const startSeconds = 0.3;

const { models } = await loadCatalog();
const streaming = models.filter(({ stream }) => (stream?.maxTokens.length ?? 0) > 0);

/** The simulated models that reason: all but those of an older family. */
const reasons = ({ id }: Model): boolean => !/gpt-4/.test(id);

function withLimit(body: object, place: string, tokens: number): object {
  const [first = '', ...rest] = place.split('/').slice(1);
  const inner = (body as Record<string, object>)[first] ?? {};
  return { ...body, [first]: rest.length === 0 ? tokens : withLimit(inner, `/${rest.join('/')}`, tokens) };
}

/** The call of a row's example that requests a stream, and its price by the simulator's list, in dollars a token. */
function calledBy(model: Model) {
  const { request, maxTokens } = model.stream ?? { request: { alt: 'sse' }, maxTokens: [] };
  const [limit = ''] = maxTokens;
  const streamed = 'member' in request ? { [request.member]: true } : {};
  const bodyWith = (tokens: number, words = 'Describe it.') => ({
    ...withLimit(withWords(model.example, words) as object, limit, tokens),
    ...streamed,
  });
  const bill = billOf(model.id);
  if (!bill) throw new Error(`the simulator has no price for ${model.id}`);
  const cost = (body: object) => bill(new Order(body as never));
  const body = bodyWith(16_000);
  const longer = bodyWith(16_000, `Describe it.${'x'.repeat(1000)}`);
  return {
    body,
    usdRead: (cost(longer) - cost(body)) / 1000,
    usdWritten: (cost(body) - cost(bodyWith(6_000))) / 10_000,
    read: Math.ceil(new Order(body).tokens(Infinity, []) / 4),
  };
}

type Call = ReturnType<typeof calledBy>;

/** The events of an answer. After each of them: how much the provider has worked, and what it charges then. */
function answerOf(model: Model, { body, read, usdRead, usdWritten }: Call) {
  const protocol = `${model.provider} ${model.upstream['protocol'] ?? ''}`;
  const form = formOf(model);
  const whole = repliesWith(text)[protocol];
  if (!form || !whole) throw new Error(`the test has no events for ${model.id}`);
  const ms = reasons(model) ? reasonSeconds * 1000 : 0;
  const hidden = hiddenTokens(ms);
  const usd = (written: number) => read * usdRead + written * usdWritten;
  const events = (reply: object) =>
    form.events(reply as Record<string, unknown>, { ...body, stream_options: { include_usage: true } });
  const shown = events(whole).reduce((sum, each) => sum + tokensOfText(each.text ?? ''), 0);
  const used = withUsage(whole as Record<string, unknown>, { read, shown, hidden });
  const priced =
    model.provider === 'openrouter'
      ? { ...used, usage: { ...(used['usage'] as object), cost: usd(shown + hidden) } }
      : used;
  const sent = events(priced);
  const first = sent.findIndex((each) => each.text !== undefined);
  interface Point {
    arrived: number;
    seconds: number;
    usd: number;
  }
  const points: Point[] = [{ arrived: 0, seconds: startSeconds / 2, usd: usd(0) }];
  let [seconds, written] = [startSeconds, 0];
  for (const [index, each] of sent.entries()) {
    if (index === first && ms > 0) {
      for (const after of [1, 5, 10, reasonSeconds])
        points.push({ arrived: index, seconds: seconds + after, usd: usd(hiddenTokens(after * 1000)) });
      seconds += reasonSeconds;
      written += hidden;
    }
    const tokens = tokensOfText(each.text ?? '');
    seconds += tokens / tokensPerSecond;
    written += tokens;
    points.push({ arrived: index + 1, seconds, usd: usd(written) });
  }
  return { sent: sent.map(({ bytes }) => Buffer.from(bytes)), points, seconds, usd: usd(written), written };
}

type Ending = 'left' | 'broken' | 'read';

/** Reads the stream as the worker does. Its caller leaves, or its connection breaks, after this number of events. */
async function collected(
  adapter: ProviderAdapter,
  run: Run,
  sent: readonly Buffer[],
  arrived: number,
  how: Ending,
) {
  const { stream } = adapter.submit(run);
  if (!stream) throw new Error('the call requests no stream');
  const body = new PassThrough();
  const caller = new AbortController();
  const collecting = collectEvents(body, {
    ...stream,
    mediaType: 'text/event-stream',
    maxBytes: 1e7,
    share: { grow: async () => {}, shrink: () => {} },
    passOn: undefined,
    signal: new AbortController().signal,
    cancelled: caller.signal,
    closing: undefined,
  });
  for (const bytes of sent.slice(0, arrived)) body.write(bytes);
  await turn();
  if (how === 'left') caller.abort();
  if (how === 'broken') body.destroy(new Error('reset'));
  await turn();
  for (const bytes of sent.slice(arrived)) if (!body.destroyed) body.write(bytes);
  if (!body.destroyed) body.end();
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, ...(await collecting) };
}

interface Bill {
  how: Ending;
  /** The price of one token. */
  token: number;
  isReported: boolean;
  billed: number;
  charged: number;
}

/** The bills of a row's stream that ends after each event in each way. */
async function billsOf(model: Model): Promise<Bill[]> {
  const definition = providerList.find(({ name }) => name === model.provider);
  if (!definition) throw new Error(`there is no provider ${model.provider}`);
  const adapter = definition.create(definition.defaultBase, {});
  const call = calledBy(model);
  const { sent, points, ...whole } = answerOf(model, call);
  const measured = { likelyTokens: null, tokensPerSecond: whole.written / whole.seconds };
  const [terms] = checkInput(
    [model],
    parsedInput(call.body),
    { alt: 'sse' },
    new Map([[model.id, measured]]),
  );
  const { streams, price } = terms;
  const run: Run = {
    runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
    model: model.id,
    upstream: terms.upstream,
    body: withMembersFirst(Buffer.from(JSON.stringify(call.body)), terms.missingMembers),
    streams: true,
  };
  const bills: Bill[] = [];
  for (const how of ['left', 'broken', 'read'] as const)
    for (const point of points) {
      const reply = await collected(adapter, run, sent, point.arrived, how);
      const isWhole = how === 'read' || ('left' in reply && reply.left?.hasUsage) || !reply.cut;
      const seconds = isWhole ? whole.seconds : point.seconds;
      const asked = {
        phase: 'submit',
        run,
        reported: price.reported,
        assets: [],
        hiddenTokens: Math.floor((streams?.hiddenTokensPerSecond ?? 0) * seconds),
      } as const;
      const read = readReply(adapter, asked, reply);
      const arrived = arrivedMicros(streams && { ...streams, isLive: true }, read) ?? NaN;
      const micros = Math.min(price.upperMicros, read.reportedMicros ?? arrived);
      bills.push({
        how,
        token: call.usdWritten,
        isReported: read.reportedMicros !== undefined,
        billed: micros / 1e6,
        charged: isWhole ? whole.usd : point.usd,
      });
    }
  return bills;
}

/** Its row has the most expensive price of each family of models, because the reply names the cost. */
const isPricedByFamily = (id: string): boolean => id === 'openrouter/chat-completions';

/** The bills without a report of streams that their callers left, whose price is known. */
const leftOf = (bills: ReadonlyMap<string, Bill[]>): Bill[] =>
  [...bills]
    .filter(([id]) => !isPricedByFamily(id))
    .flatMap(([, own]) => own.filter(({ how, isReported }) => how === 'left' && !isReported));

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
const quotient = (bills: readonly Bill[]) =>
  sum(bills.map(({ billed }) => billed)) / sum(bills.map(({ charged }) => charged));

describe('the bill of a stream that ends after any of its events', () => {
  const bills = new Map<string, Bill[]>();
  beforeAll(async () => {
    for (const model of streaming) bills.set(model.id, await billsOf(model));
  });
  afterAll(() => {
    const all = [...bills.values()].flat();
    const left = leftOf(bills);
    process.stdout.write(
      `${all.length} ends of ${bills.size} streams; without a report, ${left.length} of left ones are billed ${quotient(left).toFixed(3)} of the provider’s price\n`,
    );
  });

  it.each(streaming.map(({ id }) => id))('of %s', (id) => {
    const own = bills.get(id) ?? [];
    const reported = own.filter(({ isReported }) => isReported);
    expect(reported.length).toBeGreaterThan(own.length / 3);
    for (const each of reported) expect([each, Math.abs(quotient([each]) - 1) <= 0.02]).toEqual([each, true]);
    const left = own.filter(({ how, isReported }) => how === 'left' && !isReported);
    expect(left.length).toBeGreaterThan(0);
    expect(quotient(left)).toBeGreaterThan(0.8);
    if (isPricedByFamily(id)) return;
    expect(quotient(left)).toBeLessThan(1.3);
    // The provider's fault is not the caller's cost: no more is billed than what arrived. An early report has one token.
    const broken = own.filter(({ how, isReported }) => how === 'broken' && !isReported);
    for (const each of broken)
      expect([each, each.billed <= each.charged * 1.02 + each.token + 2e-6]).toEqual([each, true]);
  });

  it('is the provider’s price over all streams that their callers left', () => {
    const left = leftOf(bills);
    expect(Math.abs(quotient(left) - 1)).toBeLessThan(0.1);
  });
});

const turn = () => new Promise(setImmediate);
