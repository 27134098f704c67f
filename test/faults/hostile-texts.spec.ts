import { describe, expect, it } from '@jest/globals';
import { membersOf } from '#schemas';
import { contains } from '../../apps/gateway/src/nodes/platform-filter.js';
import { inputErrors } from '../../libs/catalog/src/check-input.js';
import { intake } from '../../libs/catalog/src/intake/intake.js';
import { settleUnions } from '../../libs/catalog/src/settle-unions.js';
import { modelOfRow } from '../../libs/catalog/src/testing/model-of-row.js';
import { least } from '../harness/faults.js';

/** CPU time in milliseconds, which excludes other processes on a busy machine. */
function usedMs(act: () => void): number {
  const before = process.cpuUsage();
  act();
  return process.cpuUsage(before).user / 1000;
}

/** The CPU time to settle a union whose first branch has `length` errors. */
const settling = (length: number) => {
  const inside = Array.from({ length }, (_, index) => ({
    keyword: 'type',
    params: { type: 'string' },
    instancePath: `/v/${index}`,
    schemaPath: '#/properties/v/anyOf/0/items/type',
  }));
  const union = {
    keyword: 'anyOf',
    params: {},
    instancePath: '/v',
    schemaPath: '#/properties/v/anyOf',
  };
  return usedMs(() => expect(settleUnions([...inside, union])).toHaveLength(length));
};

describe('hostile texts take little processor time', () => {
  it.each(['^(a|a)*$', '^(a+)+$', '^(a?){40}$'])(
    'as inputs for %s: linear in the length of the text',
    (pattern) => {
      const model = modelOfRow({
        id: 'a/b',
        upstream: { path: 'b' },
        charges_on_policy_rejection: 'no',
        price: { usd: 0.01 },
        input: { type: 'object', properties: { v: { type: 'string', pattern } } },
      });
      const of = (length: number) =>
        usedMs(() => expect(inputErrors(model, { v: `${'a'.repeat(length)}!` })).toHaveLength(1));
      // The best of several, because the first ones also compile the schema and the engine. The two lengths
      // alternate, so that a slow moment of the machine affects both.
      const times = Array.from({ length: 20 }, () => ({ short: of(1_000), long: of(10_000) }));
      const best = (length: 'short' | 'long') => Math.min(...times.map((each) => each[length]));
      // Ten times the text takes about ten times as long.
      expect(best('long')).toBeLessThan(50 * Math.max(best('short'), 0.1));
    },
  );

  it('as a union of long lists: its errors are settled in one pass', () => {
    const times = Array.from({ length: 10 }, () => ({ short: settling(2_000), long: settling(20_000) }));
    const best = (length: 'short' | 'long') => Math.min(...times.map((each) => each[length]));
    // Ten times the errors take about ten times as long; it would be a hundred times if each were copied for
    // each.
    expect(best('long')).toBeLessThan(40 * Math.max(best('short'), 0.5));
  });

  it('as versions and their ranges', async () => {
    const texts = ['1', ' ', '>=', '1.', '||'].map((part) => part.repeat(16_000 / part.length));
    const lowestMs = await least(1_000, async () =>
      usedMs(() => {
        for (const text of texts) {
          contains(text, '1.0.0');
          contains('>=1.0', text);
        }
      }),
    );
    expect(lowestMs).toBeLessThan(1_000);
  });

  it('as JSON with an image of 20 MB', async () => {
    const json = Buffer.from(`{"image":"${'A'.repeat(20_000_000)}","seed":7}`);
    const lowestMs = await least(2_000, async () =>
      usedMs(() => expect(membersOf(json).map(({ name }) => name)).toEqual(['image', 'seed'])),
    );
    expect(lowestMs).toBeLessThan(2_000);
  });

  it('as a schema of half a megabyte that is rejected', async () => {
    const choices = Array.from({ length: 9000 }, (_, index) => ({
      type: 'string',
      const: `a value ${index} of thousands`,
    }));
    const lowestMs = await least(5_000, async () =>
      usedMs(() =>
        expect(intake({ $ref: 'given.json#' }, () => ({ anyOf: choices })).problems).toHaveLength(1),
      ),
    );
    expect(lowestMs).toBeLessThan(5_000);
  });
});
