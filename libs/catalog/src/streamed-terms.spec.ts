import { beforeAll, describe, expect, it } from '@jest/globals';
import { InputRejection } from '#errors';
import { type ProviderDefinition, providerList } from '#providers';
import { valueAt } from '#schemas';
import { type CallQuery, checkInput, type ServerTerms } from './check-input.js';
import { loadCatalog } from './load-catalog.js';
import { type Model, servedBy } from './model.js';
import { quote } from './quote.js';
import { modelOfRow } from './testing/model-of-row.js';
import { parsedInput } from './testing/parsed-input.js';

const row = (more: object = {}) => ({
  id: 'acme/talk-1',
  upstream: { path: 'talk' },
  charges_on_policy_rejection: 'no',
  price: {
    usd: 0.000002,
    times: [{ tokens: '/input', max: 1000 }],
    plus: [
      {
        usd: 0.00001,
        times: [
          { number: '/max_tokens', alternatives: [{ path: '/most' }], default: 100, per: 10 },
          { number: '/n' },
          { table: '/tier', values: { fast: 3, plain: 1 }, default: 'plain' },
        ],
      },
      { usd: 0.5 },
    ],
  },
  ...more,
});

const provider = (facts: Partial<ProviderDefinition>): ProviderDefinition => ({
  ...(providerList[0] as ProviderDefinition),
  takesBothSpellings: false,
  streams: undefined,
  refusesTrue: undefined,
  ...facts,
});

const served = (facts: Partial<ProviderDefinition>, more: object = {}): Model =>
  servedBy(modelOfRow(row(more)), provider(facts));

const byMember = () => ({ request: { member: 'stream' }, maxTokens: ['/max_tokens'], text: [] });
const byQuery = () => ({ request: { alt: 'sse' as const }, maxTokens: ['/max_tokens'], text: [] });

const streamsOf = (model: Model, body: object, query?: CallQuery): ServerTerms['streams'] =>
  checkInput([model], parsedInput(body), query)[0].streams;

describe('the terms of a call that requests a stream', () => {
  it('have the price of the input and of one token, whatever the limit and the number of answers', () => {
    const model = served({ streams: byMember });
    const price = { inputMicros: 20 + 500_000, tokenMicros: 3 };
    for (const limit of [{}, { max_tokens: 5 }, { most: 7, n: 4 }])
      expect(streamsOf(model, { input: 'x'.repeat(40), stream: true, tier: 'fast', ...limit })).toEqual(
        price,
      );
  });

  it.each([{}, { stream: false }, { stream: null }, { stream: 'true' }])(
    'have no such price for %j',
    (input) => expect(streamsOf(served({ streams: byMember }), input)).toBeUndefined(),
  );

  it('need ?alt=sse if the provider streams at another address', () => {
    const model = served({ streams: byQuery });
    expect(streamsOf(model, { stream: true })).toBeUndefined();
    expect(streamsOf(model, {}, { alt: 'json' })).toBeUndefined();
    expect(streamsOf(model, {}, { alt: 'sse' })).toMatchObject({ tokenMicros: 1 });
    expect(streamsOf(served({}), {}, { alt: 'sse' })).toBeUndefined();
  });

  it('leave out servers that do not stream', () => {
    const first = served({ streams: byMember }, { servers: ['b/x', 'c/x'] });
    const schema = { input: { type: 'object', properties: { input: {}, stream: {} } }, example: {} };
    const [silent, streaming] = [
      served({}, { id: 'b/x', ...schema }),
      served({ streams: byMember }, { id: 'c/x', ...schema }),
    ];
    const idsOf = (body: object) =>
      checkInput([first, silent, streaming], parsedInput(body)).map(({ server }) => server);
    expect(idsOf({ input: 'a', stream: true })).toEqual(['acme/talk-1', 'c/x']);
    expect(idsOf({ input: 'a' })).toEqual(['acme/talk-1', 'b/x', 'c/x']);
  });
});

it('a member that requests another kind of reply is rejected if it is true', () => {
  const model = served({ refusesTrue: () => ['background'] });
  for (const body of [{}, { background: false }, { background: null }])
    expect(() => checkInput([model], parsedInput(body))).not.toThrow();
  let fields: unknown;
  try {
    checkInput([model], parsedInput({ background: true }));
  } catch (error) {
    ({ fields } = error as InputRejection);
  }
  expect(fields).toEqual([
    {
      loc: ['body', 'background'],
      msg: 'Input should be false',
      type: 'literal_error',
      ctx: { expected: 'false' },
      input: true,
    },
  ]);
});

const limitsTokens = ({ stream }: Model): boolean => (stream?.maxTokens.length ?? 0) > 0;

const pathOf = ({ method, path }: Model['upstream']) => method ?? path;

describe('the built-in models that stream', () => {
  /** Models that write text, whose input can limit it; models of pictures, speech and transcripts. */
  let [models, media]: [Model[], Model[]] = [[], []];
  beforeAll(async () => {
    const { models: all } = await loadCatalog();
    const streaming = all.filter(({ stream }) => stream !== undefined);
    models = streaming.filter(limitsTokens);
    media = streaming.filter((model) => !limitsTokens(model));
  });

  it('are the text models of the providers that declare a stream', () => {
    const providers = new Set(models.map(({ provider: name }) => name));
    expect([...providers].toSorted()).toEqual(['anthropic', 'bytedance', 'google', 'openai', 'openrouter']);
    expect(models.filter(({ modalities }) => !modalities?.out.includes('text'))).toEqual([]);
    expect(new Set(media.map(({ provider: name, upstream }) => `${name} ${pathOf(upstream)}`))).toEqual(
      new Set([
        'google generateContent',
        'openai audio/speech',
        'openai audio/transcriptions',
        'openai images/edits',
        'openai images/generations',
      ]),
    );
  });

  it('of pictures, speech and transcripts cost the same, streamed or not, until their usage arrives', () => {
    for (const model of media) {
      const { request } = model.stream ?? {};
      const requested = request && 'member' in request ? { [request.member]: request.value ?? true } : {};
      const body = { ...model.example, ...requested };
      const { inputMicros = NaN, tokenMicros } = streamsOf(model, body, { alt: 'sse' }) ?? {};
      expect([model.id, tokenMicros, Math.abs(inputMicros - quote(model, body).computedMicros) <= 1]).toEqual(
        [model.id, 0, true],
      );
    }
    expect(media.length).toBeGreaterThanOrEqual(15);
  });

  it('cost their input and their tokens', () => {
    const apart = models.map((model) => {
      const { stream } = model;
      const requested = stream && 'member' in stream.request ? { [stream.request.member]: true } : {};
      const body = { ...model.example, ...requested };
      const { inputMicros = NaN, tokenMicros = NaN } = streamsOf(model, body, { alt: 'sse' }) ?? {};
      const limit = stream?.maxTokens.map((place) => valueAt(body, place)).find(Number.isInteger) ?? 1000;
      const difference = inputMicros + tokenMicros * Number(limit) - quote(model, body).computedMicros;
      return [model.id, tokenMicros > 0 && Math.abs(difference) <= 2];
    });
    expect(apart.filter(([, isSame]) => isSame !== true)).toEqual([]);
    expect(apart.length).toBeGreaterThan(30);
  });
});
