import { describe, expect, it } from '@jest/globals';
import { loadCatalog, type Model, quote } from '#catalog';
import { reportedMicros } from '#providers';
import type { Price } from '../../libs/catalog/src/price.js';
import { Order } from '../../apps/simulator/src/prices/order.js';
import { billOf } from '../../apps/simulator/src/prices/price-list.js';
import type { Body } from './bodies.js';
import { everyPrice } from './every-price.js';
import { repliesOf, type Tokens } from './replies.js';

const { models } = await loadCatalog();
const reporting = models.filter(({ price }) => price.reported.length > 0);
const writing = everyPrice(reporting).flatMap(([name, model]) => {
  const replies = repliesOf(model);
  return replies ? [[name, model, replies] as const] : [];
});

type Factor = Price['times'][number];

const isRead = (factor: Factor): boolean => 'tokens' in factor;
const isWritten = (factor: Factor): boolean =>
  'number' in factor && /max_?(output_?|completion_?)?tokens$/i.test(factor.number);
const isAnswers = (factor: Factor): boolean =>
  'number' in factor && /\/(candidateCount|n)$/.test(factor.number);

/** The upper bound of a factor, as the row states it for an input. */
function boundOf(model: Model, is: (factor: Factor) => boolean, body: Body): number | undefined {
  const factor = [model.price, ...model.price.plus].flatMap(({ times }) => times).find(is);
  if (!factor) return undefined;
  const price = { usd: 1, times: [factor], plus: [], reported: [] };
  return quote({ ...model, price }, body).upperMicros / 1_000_000;
}

/** Inputs that limit a reply, from the smallest limit to none. */
function inputsOf(model: Model): Body[] {
  const base = { ...model.constants, ...(model.example as Body) };
  if (Object.hasOwn(base, 'contents')) {
    const file = { contents: [{ parts: [{ fileData: { fileUri: 'gs://a/b', mimeType: 'video/mp4' } }] }] };
    return [
      base,
      { ...base, ...file },
      ...['1K', '2K', '4K'].map((imageSize) => ({
        ...base,
        generationConfig: { imageConfig: { imageSize } },
      })),
      ...[16, 4096, 65_536].flatMap((maxOutputTokens) =>
        [1, 3].map((candidateCount) => ({ ...base, generationConfig: { maxOutputTokens, candidateCount } })),
      ),
    ];
  }
  const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  return [
    ...['max_tokens', 'max_output_tokens', 'max_completion_tokens'].flatMap((name) =>
      [16, 4096].map((most) => ({ ...base, [name]: most })),
    ),
    { ...base, max_completion_tokens: 16, n: 3 },
    { ...base, generation_config: { max_output_tokens: 16 } },
    { ...base, ...cached },
    { ...base, tools: [{ type: 'function', name: 'f', ...cached }] },
    {
      ...base,
      messages: [{ role: 'user', content: [{ content: [{ type: 'text', text: 'a', ...cached }] }] }],
    },
    { ...base, ...cached, inference_geo: 'us' },
    { ...base, inference_geo: 'us' },
  ];
}

const bytesOf = (reply: unknown) => ({
  status: 200,
  headers: {},
  body: new TextEncoder().encode(JSON.stringify(reply)),
});

/** The largest report that the row's own limits allow. */
function tokensOf(model: Model, body: Body): Tokens {
  const answers = boundOf(model, isAnswers, body) ?? 1;
  const read = boundOf(model, isRead, body) ?? Infinity;
  // A model whose input cannot limit the answer has the same limit for both.
  const written = (boundOf(model, isWritten, body) ?? read) * answers;
  const text = JSON.stringify(body);
  const has = (name: string) => text.includes(name);
  return { read, written, answers, isCached: has('cache_control'), hasFile: has('fileData') };
}

describe('the largest report of a text model stays within the reserve', () => {
  it.each(writing)('%s', (_, model, replies) => {
    const above = inputsOf(model).flatMap((body) => {
      const tokens = tokensOf(model, body);
      expect([tokens.read, tokens.written]).not.toContain(Infinity);
      const { reported, upperMicros } = quote(model, body);
      return replies(tokens).flatMap((reply) => {
        const micros = reportedMicros(reported, bytesOf(reply));
        return micros !== undefined && micros <= upperMicros
          ? []
          : [`${JSON.stringify(body)}: ${JSON.stringify(reply)} costs ${micros} of ${upperMicros}`];
      });
    });
    expect(above.slice(0, 3)).toEqual([]);
  });

  it('covers every text model that reports tokens', () => {
    const left = reporting
      .filter(({ modalities }) => modalities?.out.includes('text'))
      .map(({ id }) => id)
      .filter((id) => !writing.some(([tried]) => tried === id));
    // These models report seconds of audio; the last one's reply names the cost itself. The price list bounds them.
    expect(left).toEqual([
      'elevenlabs/scribe_v1',
      'elevenlabs/scribe_v2',
      'openai/whisper-1',
      'openrouter/chat-completions',
    ]);
  });
});

describe('the report of the provider’s own price stays within the reserve', () => {
  it.each(everyPrice(reporting))('%s', (_, model, atMs) => {
    const bill = billOf(model.id);
    const body = { ...model.constants, ...(model.example as Body) };
    const asked = bill?.(new Order(body, atMs)) ?? Infinity;
    expect(quote(model, body).upperMicros / 1_000_000).toBeGreaterThanOrEqual(asked * 0.999);
  });
});
