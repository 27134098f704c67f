import { describe, expect, it } from '@jest/globals';
import { inputOfForm } from './form-input.js';

const schema = {
  properties: {
    prompt: { type: 'string' },
    n: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    temperature: { type: 'number' },
    stream: { enum: [false, null] },
    image: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    sizes: { type: 'array', items: { type: 'integer' } },
    strategy: {
      anyOf: [
        { type: 'string', const: 'auto' },
        { type: 'object', properties: { type: { type: 'string' }, threshold: { type: 'number' } } },
      ],
    },
    settings: { type: 'object' },
  },
} as const;

const jsonOf = (...fields: [name: string, value: string][]): string =>
  inputOfForm(
    fields.map(([name, value]) => ({ name, value })),
    schema as never,
  ).toString();

describe('the input of a form', () => {
  it.each<[[string, string][], string]>([
    [[['prompt', '5']], '{"prompt":"5"}'],
    [[['n', '5']], '{"n":5}'],
    [[['n', 'five']], '{"n":"five"}'],
    [[['n', '007']], '{"n":"007"}'],
    [[['temperature', '0.50']], '{"temperature":0.50}'],
    [[['temperature', '18446744073709551615']], '{"temperature":18446744073709551615}'],
    [[['stream', 'true']], '{"stream":true}'],
    [[['stream', 'yes']], '{"stream":"yes"}'],
    [[['unknown', '5']], '{"unknown":"5"}'],
    [[['image', 'u']], '{"image":"u"}'],
    [[['image[]', 'u']], '{"image":["u"]}'],
    [
      [
        ['image', 'u'],
        ['prompt', 'a'],
        ['image', 'v'],
      ],
      '{"image":["u","v"],"prompt":"a"}',
    ],
    [
      [
        ['sizes[]', '1'],
        ['sizes[]', 'x'],
      ],
      '{"sizes":[1,"x"]}',
    ],
    [[['strategy', 'auto']], '{"strategy":"auto"}'],
    [
      [
        ['strategy[type]', 'server_vad'],
        ['strategy[threshold]', '0.5'],
      ],
      '{"strategy":{"type":"server_vad","threshold":0.5}}',
    ],
    [[['settings', '{"a":1}']], '{"settings":{"a":1}}'],
    [[['settings', '{']], '{"settings":"{"}'],
    [[['__proto__', '\n"']], '{"__proto__":"\\n\\""}'],
    [[], '{}'],
  ])('of %j is %s', (fields, json) => {
    expect(jsonOf(...fields)).toBe(json);
  });

  it.each(['a[b][c]', 'a[b]c', '[a]', ''])('has no member of the name %j', (name) => {
    expect(() => jsonOf([name, 'x'])).toThrow('The model does not accept this input.');
  });
});
