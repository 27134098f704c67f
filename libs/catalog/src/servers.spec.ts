import { expect, it } from '@jest/globals';
import { serversOf } from './catalog.js';
import { checkInput } from './check-input.js';
import { modelOfRow } from './testing/model-of-row.js';
import { parsedInput } from './testing/parsed-input.js';

const row = (id: string, more: object = {}) =>
  modelOfRow({
    id,
    upstream: { path: 'x' },
    charges_on_policy_rejection: 'no',
    price: { usd: 0.01 },
    ...more,
  });
const input = {
  type: 'object',
  properties: { prompt: { type: 'string' }, n: { type: 'integer', maximum: 4 } },
  required: ['prompt'],
};

it('the servers of a model are its own first, without missing ones', () => {
  const model = row('a/x', { servers: ['b/x', 'c/x'] });
  const other = row('c/x');
  expect(serversOf({ find: (id) => (id === 'c/x' ? other : undefined) }, model)).toEqual([model, other]);
});

it.each([
  [{ prompt: 'a', n: 4 }, true],
  [{ prompt: 'a', n: 5 }, false],
  [{ prompt: 'a', size: '1k' }, false],
  [{ n: 1 }, false],
])('another server accepts %j: %j', (given, expected) => {
  const other = row('b/x', { input, example: { prompt: 'a' } });
  const terms = checkInput([row('a/x'), other], parsedInput(given));
  expect(terms.map(({ server }) => server)).toEqual(expected ? ['a/x', 'b/x'] : ['a/x']);
});
