import { describe, expect, it } from '@jest/globals';
import { withSet } from './encodings.js';

const runId = '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f';
const own = 'af0f5054-0a8e-400d-84a3-26d2015afae4';
const encode = withSet((uuid) => ({ kind: 'image', id: uuid, cost: true }));
const sent = (text: string, id = runId, encoding = encode) =>
  Buffer.from(
    encoding({ runId: id, model: 'p/m', upstream: {}, body: Buffer.from(text) }).body ?? [],
  ).toString();
const idOf = (text: string) => (JSON.parse(text) as { id: string }).id;

describe('withSet', () => {
  it.each([
    ['{}', '{"kind":"image","id":"<id>","cost":true}'],
    [
      '{ "seed":18446744073709551615, "a":1.0 }',
      '{"kind":"image","id":"<id>","cost":true, "seed":18446744073709551615, "a":1.0 }',
    ],
    ['{"cost":null,"a":{"cost":null}}', '{"kind":"image","id":"<id>","cost":true,"a":{"cost":null}}'],
    ['{"cost":false, "id":"theirs"}', '{"kind":"image","cost":true, "id":"<id>"}'],
    ['{"id":1,"id":2,"ID":3}', '{"kind":"image","cost":true,"id":"<id>","id":"<id>","ID":"<id>"}'],
  ])('%s becomes %s', (text, wanted) => {
    expect(sent(text)).toBe(wanted.replaceAll('<id>', idOf(sent('{}'))));
  });

  it('sends a list with one element', () => {
    const listed = withSet(() => ({ a: [1] }), true);
    expect(sent('{"b":2}', runId, listed)).toBe('[{"a":[1],"b":2}]');
  });

  it('gives a run the same version 4 UUID in every attempt, and every run its own', () => {
    expect(idOf(sent('{}'))).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    // Other releases must derive the same UUID, because a run may be in progress during a rollout.
    expect(idOf(sent('{"b":2}'))).toBe(own);
    expect(idOf(sent('{}', `${runId.slice(0, -1)}0`))).not.toBe(own);
  });
});
