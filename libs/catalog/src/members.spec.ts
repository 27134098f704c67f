import { describe, expect, it } from '@jest/globals';
import { InputRejection } from '#errors';
import { checkInput } from './check-input.js';
import { modelOfRow } from './testing/model-of-row.js';
import { parsedInput } from './testing/parsed-input.js';

const model = modelOfRow({
  id: 'a/cheap',
  upstream: { path: 'cheap' },
  charges_on_policy_rejection: 'no',
  price: { usd: 0.01 },
  constants: { mode: 'cheap', task: 2 },
});

function check(text: string): unknown {
  try {
    return checkInput([model], parsedInput(text))[0].missingMembers;
  } catch (error) {
    if (!(error instanceof InputRejection)) throw error;
    return error.fields.map(({ loc, type }) => `${loc.join('.')} ${type}`);
  }
}

describe('members that name the model', () => {
  it.each([
    ['{}', { mode: 'cheap', task: 2 }],
    ['{"mode":"cheap"}', { task: 2 }],
    ['{"task":2.0,"mode":"ch\\u0065ap"}', {}],
    ['{"mode":"cheap","mode":"cheap","task":2}', {}],
    ['{"Mode":"cheap"}', { mode: 'cheap', task: 2 }],
    ['{"nested":{"mode":"dear"},"mode ":"dear"}', { mode: 'cheap', task: 2 }],
  ])('are added if %s lacks them', (body, missing) => {
    expect(check(body)).toEqual(missing);
  });

  it.each([
    ['{"mode":"dear"}', 'body.mode literal_error'],
    ['{"mode":null}', 'body.mode literal_error'],
    ['{"mode":"dear","mode":"cheap"}', 'body.mode literal_error'],
    ['{"mode":"cheap","mode":"dear"}', 'body.mode literal_error'],
    ['{"m\\u006fde":"dear","mode":"cheap"}', 'body.mode literal_error'],
    ['{"mode":"cheap","MODE":"dear"}', 'body.MODE literal_error'],
    ['{"Mode":"dear"}', 'body.Mode literal_error'],
    ['{"ta\u017f\u212a":3}', 'body.ta\u017f\u212a literal_error'],
  ])('reject %s', (body, error) => {
    expect(check(body)).toEqual([error]);
  });
});

describe('the address', () => {
  const imageOrText = modelOfRow({
    id: 'a/video',
    upstream: { path: 'text', host: 'a.example' },
    variants: [
      { contains: ['/input/first', '/input/last'], upstream: { path: 'frames' } },
      { contains: ['/image'], upstream: { path: 'image', host: 'b.example' } },
    ],
    charges_on_policy_rejection: 'no',
    price: { usd: 0.01 },
  });

  it.each([
    [
      { prompt: 'x', image: null },
      { path: 'text', host: 'a.example' },
    ],
    [{ image: 'x' }, { path: 'image', host: 'b.example' }],
    [
      { input: { last: 'x' }, image: 'x' },
      { path: 'frames', host: 'a.example' },
    ],
  ])('for %j is %j', (input, address) => {
    expect(checkInput([imageOrText], parsedInput(input))[0].upstream).toEqual(address);
  });
});
