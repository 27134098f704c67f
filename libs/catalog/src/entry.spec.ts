import { describe, expect, it } from '@jest/globals';
import { routerModelDetail, routerModelListEntry } from '#schemas';
import { detail, entry } from './entry.js';
import { modelOfRow } from './testing/model-of-row.js';

const row = { id: 'a/b', upstream: { path: 'b' }, charges_on_policy_rejection: 'yes', price: { call: 1 } };
const authored = modelOfRow({ ...row, input: { type: 'object' } });
const unauthored = modelOfRow(row);

describe('entry', () => {
  it('has the wire shape', () => {
    expect(entry(authored)).toEqual({
      id: 'a/b',
      provider: 'a',
      model: 'b',
      billing: { charges_on_policy_rejection: 'yes' },
    });
    expect(routerModelListEntry.parse(entry(authored))).toEqual(entry(authored));
  });
});

describe('detail', () => {
  it.each(['v1', 'v2'] as const)('points to the document of %s', (generation) => {
    const found = detail(authored, { publicBaseUrl: 'https://router.example/', generation });
    expect(found.input_schema_url).toBe(`https://router.example/${generation}/models/a/b/openapi.json`);
    expect(routerModelDetail.parse(found)).toEqual(found);
  });

  it.each([
    ['no schema is authored', unauthored, 'https://router.example'],
    ['the service is not https', authored, 'http://router.example'],
    ['the service does not know its address', authored, undefined],
    ['the address would be too long', authored, `https://router.example/${'x'.repeat(2048)}`],
  ])('has no address when %s', (_, model, publicBaseUrl) =>
    expect(detail(model, { publicBaseUrl, generation: 'v2' })).toEqual(entry(model)),
  );
});
