import { describe, expect, it } from '@jest/globals';
import { loadCatalog, type Model, quote } from '#catalog';

const { models } = await loadCatalog();

const toolFields = ['tools', 'functions'];

const fieldsOf = ({ price }: Model): string[] => [
  ...new Set(
    [price, ...price.plus].flatMap(({ times }) =>
      times.flatMap((factor) =>
        'tokens' in factor
          ? (factor.unbounded_fields ?? []).filter((field) => typeof field === 'string')
          : [],
      ),
    ),
  ),
];

/** The rows whose callers may give tools, with the names of the fields. */
const withTools = models
  .map((model) => ({ model, fields: fieldsOf(model).filter((field) => toolFields.includes(field)) }))
  .filter(({ fields }) => fields.length > 0);

const parameters = {
  type: 'object',
  properties: { id: { type: 'string' }, image: { type: 'string' }, source: { type: 'string' } },
};
const text = { name: 'look_up', description: 'Looks a record up.', parameters };

/** A tool of a kind, in the form of its protocol. */
const toolOf = (kind: string): object => {
  if (kind === '') return text;
  if (kind === 'functionDeclarations') return { functionDeclarations: [text] };
  return { type: kind.replace('*', '20260101'), ...text };
};

const upperOf = (model: Model, more: object): number =>
  quote(model, { ...model.example, ...more }).upperMicros;

describe('a tool', () => {
  it('of each family is covered', () => {
    expect([...new Set(withTools.map(({ model }) => model.provider))].toSorted()).toEqual(
      expect.arrayContaining([
        'anthropic',
        'bytedance',
        'gemini-interactions',
        'google',
        'openai',
        'openrouter',
      ]),
    );
    expect(withTools.length).toBeGreaterThanOrEqual(63);
  });

  it.each(withTools.flatMap(({ model, fields }) => fields.map((field) => [model.id, field, model] as const)))(
    '%s: %s',
    (_, field, model) => {
      const kinds = Object.keys(model.callerTools ?? {});
      expect(kinds).not.toEqual([]);
      const full = upperOf(model, { [field]: [{ type: 'unknown_20270101' }] });
      const plain = upperOf(model, {});
      for (const kind of kinds) {
        const upper = upperOf(model, { [field]: [toolOf(kind)] });
        expect(upper).toBeGreaterThan(plain);
        // Its own text, and the text that the provider adds.
        const bytes = 2 * JSON.stringify(toolOf(kind)).length + (model.callerTools?.[kind] ?? 0);
        expect(upper).toBeLessThanOrEqual(upperOf(model, { note: 'x'.repeat(bytes) }));
        // With one that runs at the provider, or with one that nobody knows.
        for (const other of [{ type: 'retrieval' }, { type: 'unknown_20270101' }, 'f', { googleMaps: {} }]) {
          if (kinds.includes('') && typeof other === 'object' && !('type' in other)) continue;
          expect(upperOf(model, { [field]: [toolOf(kind), other] })).toBe(full);
        }
      }
    },
  );

  it('that holds tools costs their text, unless one of them runs at the provider', () => {
    const model = models.find(({ id }) => id === 'openai/gpt-5.5');
    if (!model) throw new Error('there is no such row');
    expect(upperOf(model, group(toolOf('function')))).toBeLessThan(upperOf(model, group({ type: 'mcp' })));
    expect(upperOf(model, group({ type: 'mcp' }))).toBe(upperOf(model, { tools: [{ type: 'mcp' }] }));
  });

  it('of Gemini counts in both spellings, and beside one of Google’s', () => {
    const model = models.find(({ id }) => id === 'vertexai/gemini-2.5-flash');
    if (!model) throw new Error('there is no such row');
    const full = upperOf(model, { tools: [{ codeExecution: {} }] });
    expect(upperOf(model, { tools: { functionDeclarations: [text] } })).toBeLessThan(full);
    expect(upperOf(model, { tools: [{ function_declarations: [text], code_execution: null }] })).toBeLessThan(
      full,
    );
    expect(upperOf(model, { tools: [{ functionDeclarations: [text], codeExecution: {} }] })).toBe(full);
  });
});

describe('a surcharge is reserved only if the input can reach it', () => {
  const long = models.filter(({ price }) =>
    price.plus.some(({ times }) => times.some((factor) => 'above' in factor && factor.above !== undefined)),
  );

  it.each(long.map((model) => [model.id, model] as const))('%s', (_, model) => {
    const above = Math.max(
      ...[model.price, ...model.price.plus].flatMap(({ times }) =>
        times.flatMap((factor) => ('tokens' in factor ? (factor.above ?? []) : [])),
      ),
    );
    const terms = model.price.plus.filter(({ times }) => times.some((factor) => 'above' in factor));
    const without = {
      ...model,
      price: { ...model.price, plus: model.price.plus.filter((each) => !terms.includes(each)) },
    };
    const short = { more: 'x'.repeat(above - 20_000) };
    const reaching = { more: 'x'.repeat(above) };
    expect(upperOf(model, short)).toBe(upperOf(without, short));
    expect(upperOf(model, reaching)).toBeGreaterThan(upperOf(without, reaching));
  });

  it('covers long inputs and audio', () => expect(long.length).toBeGreaterThanOrEqual(22));
});

const group = (tool: object) => ({ tools: [{ type: 'namespace', name: 'n', tools: [tool] }] });
