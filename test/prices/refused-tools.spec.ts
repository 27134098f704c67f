import { describe, expect, it } from '@jest/globals';
import { checkInput, loadCatalog, type Model } from '#catalog';
import { InputRejection } from '#errors';
import { parsedInput } from '../../libs/catalog/src/testing/parsed-input.js';

const { models } = await loadCatalog();

const problemsOf = (model: Model, tools: unknown): { loc: unknown; type: string; msg: string }[] => {
  const body = { ...model.constants, ...(model.example as object), tools };
  try {
    checkInput([model], parsedInput(body));
    return [];
  } catch (error) {
    if (error instanceof InputRejection) return [...error.fields];
    throw error;
  }
};

const byProtocol = (protocol: string, provider: string): Model[] =>
  models.filter((model) => model.provider === provider && model.upstream.protocol === protocol);

const gemini = models.filter(({ input }) => Object.hasOwn(input.properties ?? {}, 'contents'));
const responses = byProtocol('text', 'openai');
const searches = new Set(['googleSearch', 'google_search']);
const isPriced = ({ providerTools = {} }: Model, kind: string) =>
  searches.has(kind) ? Object.hasOwn(providerTools, 'googleSearch') : Object.hasOwn(providerTools, kind);
const chat = byProtocol('chat', 'openai');
const interactions = models.filter(({ upstream }) => upstream.path === 'interactions');

describe('a tool with an unbounded fee is rejected', () => {
  it.each(
    gemini.flatMap((model) =>
      [
        'googleSearch',
        'google_search',
        'googleSearchRetrieval',
        'google_search_retrieval',
        'googleMaps',
        'google_maps',
        'enterpriseWebSearch',
        'retrieval',
        'fileSearch',
      ]
        .filter((name) => !isPriced(model, name))
        .map((name) => [model.id, name, model] as const),
    ),
  )('%s: %s', (_, name, model) => {
    expect(problemsOf(model, [{ functionDeclarations: [] }, { [name]: {} }])).toMatchObject([
      { loc: ['body', 'tools', 1, name], type: 'enum' },
    ]);
    expect(problemsOf(model, [{ functionDeclarations: [{ name: 'f' }] }])).toEqual([]);
  });

  it.each(gemini.map((model) => [model.id, model] as const))('%s: in both spellings', (_, model) => {
    expect(problemsOf(model, [{ googleMaps: null, google_maps: {} }])).not.toEqual([]);
  });

  it.each(
    [...responses, ...chat, ...interactions].flatMap((model) =>
      [
        'web_search',
        'web_search_preview',
        'file_search',
        'code_interpreter',
        'image_generation',
        'google_search',
      ]
        .filter((type) => !isPriced(model, type))
        .map((type) => [model.id, type, model] as const),
    ),
  )('%s: %s', (_, type, model) => {
    expect(problemsOf(model, [{ type: 'function', name: 'f' }, { type }])).toMatchObject([
      { loc: ['body', 'tools', 1, 'type'], type: 'enum' },
    ]);
    expect(problemsOf(model, [{ type: 'function', name: 'f', parameters: {} }])).toEqual([]);
    expect(problemsOf(model, [{ name: 'f' }])).toMatchObject([{ type: 'missing' }]);
  });

  it('also in an item of the input', () => {
    for (const type of ['image_generation', 'file_search', 'web_search_preview']) {
      const body = { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type }] }] };
      expect(() => checkInput([responses[0] as Model], parsedInput(body))).toThrow(InputRejection);
    }
  });

  it('which has a fee that is known is not', () => {
    const kinds = models.flatMap((model) =>
      Object.entries(model.providerTools ?? {}).map(([kind, { fee }]) => ({ model, kind, fee })),
    );
    const accepted = kinds.filter(({ fee }) => fee !== undefined);
    expect(new Set(accepted.map(({ model }) => model.provider))).toEqual(
      new Set(['anthropic', 'google', 'openai']),
    );
    for (const { model, kind } of accepted) {
      const type = kind.replace('*', '20260318');
      expect(problemsOf(model, [model.provider === 'google' ? { [kind]: {} } : { type, name: 'f' }])).toEqual(
        [],
      );
    }
  });

  it('covers each family', () => {
    expect([gemini.length, responses.length, chat.length, interactions.length]).toEqual([18, 25, 23, 2]);
  });
});
