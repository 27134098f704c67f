import { describe, expect, it } from '@jest/globals';
import { checkInput, loadCatalog, type Model, type ServerTerms } from '#catalog';
import { reportedMicros } from '#providers';
import { readControl } from '../../apps/simulator/src/control.js';
import type { Generation } from '../../apps/simulator/src/ledger/generation.js';
import { Order } from '../../apps/simulator/src/prices/order.js';
import { billOf } from '../../apps/simulator/src/prices/price-list.js';
import { fal } from '../../apps/simulator/src/providers/fal.js';
import { Replies } from '../../apps/simulator/src/replies.js';
import { parsedInput } from '../../libs/catalog/src/testing/parsed-input.js';
import type { Body } from './bodies.js';

const { models } = await loadCatalog();
const rows = models.filter(({ provider }) => provider === 'fal');
const replies = new Replies(fal, fal.protocols[0]);

/** The header that fal sends with the result of a submission. */
function reportedUnits(path: string, body: Body): string | undefined {
  const { control } = readControl([]);
  const bytes = Buffer.from(JSON.stringify(body));
  const generation = {
    id: '1',
    model: path,
    prompt: 'a',
    path: `/${path}`,
    body: bytes,
    control,
  } as Generation;
  const view = {
    generation,
    control,
    phase: 'succeeded',
    api: 'http://api',
    assets: 'http://assets',
  } as const;
  return replies.fetch(view).headers?.['x-fal-billable-units'];
}

/** The example with each value that a table of the price names. */
function bodiesOf({ price, example }: Model): Body[] {
  const base = example as Body;
  const named = [price, ...price.plus].flatMap(({ times }) =>
    times.flatMap((factor) =>
      'table' in factor
        ? Object.keys(factor.values).map((value): Body => {
            const isFlag = value === 'true' || value === 'false';
            return { ...base, [factor.table.slice(1)]: isFlag ? value === 'true' : value };
          })
        : [],
    ),
  );
  return [base, ...named];
}

const termsOf = (model: Model, body: Body): ServerTerms | undefined => {
  try {
    return checkInput([model], parsedInput(JSON.stringify(body)))[0];
  } catch {
    return undefined;
  }
};

describe('a row of fal', () => {
  it.each(rows.map((row) => [row.id, row] as const))('%s bills the units that fal reports', (id, row) => {
    const bill = billOf(id);
    if (!bill) throw new Error(`the simulator's price list has no ${id}`);
    const bodies = bodiesOf(row);
    const compared = bodies.flatMap((body) => {
      const terms = termsOf(row, body);
      if (!terms) return [];
      const units = reportedUnits(terms.upstream['path'] ?? '', body);
      const reply = { status: 200, headers: { 'x-fal-billable-units': units ?? '' }, body: new Uint8Array() };
      const billed = reportedMicros(terms.price.reported, reply) ?? NaN;
      const asked = bill(new Order(body)) * 1_000_000;
      expect(billed).toBeLessThanOrEqual(terms.price.upperMicros * 1.001 + 1);
      return [{ body: JSON.stringify(body), quotient: Math.round((billed / asked) * 1000) / 1000 }];
    });
    expect(compared.length).toBeGreaterThan(0);
    expect(compared.filter(({ quotient }) => quotient !== 1)).toEqual([]);
  });
});
