import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { jsonExcess, type JsonLimits } from './json-limits.js';

const scan = (text: string, limits: Partial<JsonLimits>) =>
  jsonExcess(Buffer.from(text), { depth: Infinity, keys: Infinity, containers: Infinity, ...limits });

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + keysOf(member), own);
}

function containersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + containersOf(member), 1);
}

describe('jsonExcess', () => {
  it('counts what the parser will find, whatever the strings hold', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('{', '"', '\\', '\\"', ':[{', '\\\\"', 'é'));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        text,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(text, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(undefined, 1), (value, indent) => {
        const json = JSON.stringify(value, undefined, indent);
        const [depth, keys, containers] = [depthOf(value), keysOf(value), containersOf(value)];
        expect(scan(json, { depth, keys, containers })).toBeNull();
        expect(scan(json, { depth: depth - 1 })).toBe(depth === 0 ? null : 'too_deep');
        expect(scan(json, { keys: keys - 1 })).toBe(keys === 0 ? null : 'too_many_keys');
        expect(scan(json, { containers: containers - 1 })).toBe(
          containers === 0 ? null : 'too_many_containers',
        );
      }),
    );
  });

  it('counts doubled keys each time', () => {
    expect(scan('{"a":1,"a":2}', { depth: 1, keys: 1 })).toBe('too_many_keys');
  });

  it.each(['', '"', '"\\', '{"a', ']]]]', '\\'])('ends on the broken text %j', (text) => {
    expect(scan(text, { depth: 1, keys: 1 })).toBeNull();
  });
});
