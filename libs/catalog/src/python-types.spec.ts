import { expect, it } from '@jest/globals';
import type { JsonSchema } from './json-schema.js';
import type { Model } from './model.js';
import { pythonStubs } from './python-types.js';

const modelWith = (properties: Record<string, JsonSchema>, id = 'acme/paint-1.1') =>
  ({
    id,
    title: 'Paint',
    isAuthored: true,
    input: { type: 'object', properties, required: Object.keys(properties) },
  }) as unknown as Model;

/** The types of the members of an input, by their names. */
function typesOf(properties: Record<string, JsonSchema>): Record<string, string> {
  const { models } = pythonStubs([modelWith(properties)]);
  const body = /class AcmePaint11Input\(TypedDict\):\n((?: {4}.*\n)+)/.exec(models)?.[1] ?? '';
  return Object.fromEntries([...body.matchAll(/^ {4}(\w+): (.+)$/gm)].map(([, name, type]) => [name, type]));
}

it('each kind of schema has a type', () => {
  expect(
    typesOf({
      text: { type: 'string' },
      count: { type: 'integer' },
      share: { type: 'number' },
      is_on: { type: 'boolean' },
      either: { anyOf: [{ type: 'string', enum: ['a"b', 'c'] }, { type: 'null' }] },
      size: { type: 'number', enum: [1, 1.5] },
      files: { type: 'array', items: { type: 'string' } },
      scores: { type: 'object', additionalProperties: { type: 'integer' } },
      anything: {},
      bounded: { allOf: [{ minLength: 1 }, { maxLength: 5 }] },
      never: { not: {} },
    }),
  ).toEqual({
    text: 'str | File',
    count: 'int',
    share: 'float',
    is_on: 'bool',
    either: 'Literal["a\\"b", "c"] | None',
    size: 'Literal[1] | float',
    files: 'Sequence[str | File]',
    scores: 'Mapping[str, int]',
    anything: 'Any',
    bounded: 'Any',
  });
});

it('members that no class of Python can have, such as keywords, are declared in a call', () => {
  const { models } = pythonStubs([modelWith({ from: { type: 'integer' }, 'a-b': { type: 'integer' } })]);
  expect(models).toContain('AcmePaint11Input = TypedDict("AcmePaint11Input", {"from": int, "a-b": int})\n');
});

it('choices that differ in their members are types of their own, with the common members', () => {
  const common = {
    type: 'object',
    properties: { prompt: { type: 'string' } },
    required: ['prompt'],
  } as const;
  const width = { properties: { width: { type: 'integer' } }, required: ['width'] };
  const height = { properties: { height: { type: 'integer' } }, required: ['height'] };
  const item = { ...common, oneOf: [width, height] } as unknown as JsonSchema;
  expect(typesOf({ item })).toEqual({ item: 'AcmePaint11InputItem1 | AcmePaint11InputItem2' });
  const required = { ...common, anyOf: [{ required: ['prompt'] }] } as unknown as JsonSchema;
  expect(typesOf({ item: required })).toEqual({ item: 'AcmePaint11InputItem' });
});

it('only a model whose input has a field for it has types to stream', () => {
  const { calls } = pythonStubs([
    modelWith({ stream: { type: 'boolean' } }, 'acme/text'),
    modelWith({ prompt: { type: 'string' } }, 'acme/paint'),
  ]);
  const streams = [...calls.matchAll(/def stream\(self, model: Literal\[(.*?)\]/g)].map(([, id]) => id);
  expect(streams).toEqual(['"acme/text"', '"acme/text"']);
});

it('two models with one name in Python are an error of the build', () => {
  expect(() => pythonStubs([modelWith({}, 'acme/paint-1'), modelWith({}, 'acme/paint.1')])).toThrow(/acme/);
});
