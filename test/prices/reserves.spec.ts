import { describe, expect, it } from '@jest/globals';
import { checkInput, loadCatalog, type Model, type ServerTerms } from '#catalog';
import { InputRejection } from '#errors';
import { pricePointers } from '../../libs/catalog/src/price.js';
import { parsedInput } from '../../libs/catalog/src/testing/parsed-input.js';
import { billOf } from '../../apps/simulator/src/prices/price-list.js';
import { type Bill, Order } from '../../apps/simulator/src/prices/order.js';
import { type Body, bodiesOf, type Tried } from './bodies.js';
import { everyPrice } from './every-price.js';

/** The largest amount whose micro-dollars fit exactly into a number. */
const maxUsd = Number.MAX_SAFE_INTEGER / 1_000_000;

const { models } = await loadCatalog();

/** The problem of a body that is admitted for less than the provider's price, if any. */
function shortfall(model: Model, atMs: number, bill: Bill, { text, readings }: Tried): string | undefined {
  let terms: ServerTerms;
  try {
    [terms] = checkInput([model], parsedInput(text));
  } catch (error) {
    if (error instanceof InputRejection) return undefined;
    throw error;
  }
  const asked = Math.min(maxUsd, Math.max(...readings.map((reading) => bill(new Order(reading, atMs)))));
  const reserved = terms.price.upperMicros / 1_000_000;
  // The list and the rows round their figures separately.
  return reserved >= asked * 0.999 - 0.000001 ? undefined : `${text} reserves ${reserved} for ${asked}`;
}

function orderOf(model: Model, bill: Bill): Order {
  const order = new Order({ ...model.constants, ...(model.example as Body) });
  bill(order);
  return order;
}

describe('a body reserves at least the provider’s price, or is rejected', () => {
  it.each(everyPrice(models))('%s', (_, model, atMs) => {
    const { id } = model;
    const bill = billOf(id);
    if (!bill) throw new Error(`the simulator's price list has no ${id}`);
    const order = orderOf(model, bill);
    const tried = bodiesOf(model, order, pricePointers(model.price));
    expect(tried.flatMap((each) => shortfall(model, atMs, bill, each) ?? []).slice(0, 5)).toEqual([]);
  });

  it('every kind of body was tried', () => {
    const kinds = new Map<string, number>();
    for (const model of models) {
      const bill = billOf(model.id);
      if (!bill) continue;
      for (const { kind } of bodiesOf(model, orderOf(model, bill), pricePointers(model.price))) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }
    expect(Object.fromEntries(kinds)).toMatchObject({
      value: expect.any(Number),
      twice: expect.any(Number),
      'another case': expect.any(Number),
      'another spelling': expect.any(Number),
      'two fields': expect.any(Number),
      'in the prompt': expect.any(Number),
    });
  });
});
