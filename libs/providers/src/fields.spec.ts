import { describe, expect, it } from '@jest/globals';

import type { Json } from '#schemas';
import { fieldErrors } from './fields.js';

const only = (body: Json) => fieldErrors(body)?.[0];

const withNumbers = (member: string) =>
  only(JSON.parse(`{"detail":[{"loc":["body",9007199254740993,1],"msg":"m","type":"t",${member}}]}`) as Json);

describe('fieldErrors', () => {
  it('passes entries on without the documentation url', () => {
    expect(
      fieldErrors({
        detail: [
          {
            loc: ['body', 'a', 0],
            msg: 'Too small',
            type: 'x',
            url: 'https://d',
            ctx: { ge: 1 },
            input: null,
          },
        ],
      }),
    ).toEqual([{ loc: ['body', 'a', 0], msg: 'Too small', type: 'x', ctx: { ge: 1 }, input: null }]);
  });

  it('starts every location with body and fills in missing members', () => {
    expect(only({ detail: [{ loc: ['width'] }] })).toEqual({
      loc: ['body', 'width'],
      msg: 'The provider did not accept this input.',
      type: 'bad_request',
    });
    expect(only({ detail: [{ msg: 'Bad' }] })?.loc).toEqual(['body']);
  });

  it('cuts long strings wherever they are in the rejected value', () => {
    const image = `data:image/png;base64,${'A'.repeat(5000)}`;
    const input = only({
      detail: [{ loc: ['body'], msg: 'm', type: 't', input: { images: [image], n: 1 } }],
    })?.input;
    expect(input).toEqual({ images: [`${image.slice(0, 1024)}…`], n: 1 });
  });

  it('omits numbers that would lose precision', () => {
    const bare = { loc: ['body', 1], msg: 'm', type: 't' };
    expect(withNumbers('"input":9007199254740993')).toEqual(bare);
    expect(withNumbers('"input":{"a":[1e400]}')).toEqual(bare);
    expect(withNumbers('"ctx":{"le":18446744073709551615}')).toEqual(bare);
    expect(withNumbers('"ctx":{"le":18446744073709551615,"ge":0.1},"input":9007199254740991')).toEqual({
      ...bare,
      ctx: { ge: 0.1 },
      input: 9_007_199_254_740_991,
    });
  });

  it('survives values a hundred thousand levels deep', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as Json;
    const entry = only({ detail: [{ loc: ['body'], msg: 'm', type: 't', input: deep }] });
    expect(JSON.stringify(entry)).toContain('[[[[[[[["…"]]]]]]]]');
  });

  it('limits echoes, wherever the provider puts its text', () => {
    const long = 'x'.repeat(5_000_000);
    const wide = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 'y'.repeat(1024)));
    const entries: { [key: string]: Json }[] = [
      { type: long },
      { loc: ['body', long] },
      { loc: Array.from({ length: 10_000 }, () => 'a') },
      { ctx: { [long]: 1 } },
      { ctx: { a: wide } },
      { input: wide },
      { input: { b: wide } },
    ];
    const fields = fieldErrors({
      detail: entries.map((each) => ({ loc: ['body', 'a'], msg: 'm', ...each })),
    });
    expect(fields).toHaveLength(entries.length);
    expect(JSON.stringify(fields).length).toBeLessThan(250_000);
  });

  it('cleans the words of a constraint like those of its message, but not the caller’s values', () => {
    const reason = 'request id: abc123, top up your balance at https://provider.example/billing';
    const whole = { loc: ['body'], msg: 'm', ctx: { reason, expected: '' }, input: reason };
    expect(only({ detail: [whole] })).toMatchObject({
      ctx: { reason: 'The provider did not accept this input.', expected: '' },
      input: reason,
    });
    const named = { loc: ['body', 'a'], msg: 'm', ctx: { allowed: ['balance', 'speed'] } };
    expect(only({ detail: [named] })?.ctx).toEqual({ allowed: ['balance', 'speed'] });
  });

  it('returns at most a hundred entries', () => {
    expect(fieldErrors({ detail: Array.from({ length: 500 }, () => ({ msg: 'm' })) })).toHaveLength(100);
  });

  it.each([
    null,
    [],
    'text',
    {},
    { detail: null },
    { detail: [] },
    { detail: ['text'] },
    { detail: {} },
  ] as Json[])('finds no fields in %j', (body) => {
    expect(fieldErrors(body)).toBeUndefined();
  });

  it.each([
    ['Prompt is too short', 'Prompt is too short'],
    ['Insufficient credits. Add more credits at api.bfl.ai.', 'The provider did not accept this input.'],
    ['User is locked. Top up at fal.ai/dashboard/billing.', 'The provider did not accept this input.'],
    ['Bad image. Request id: 0217abc9', 'Bad image.'],
    ['Bad image (request_id=req_8f2) at https://provider.example/x?y=1', 'Bad image at (link)'],
    ['See docs.provider.ai/errors/7 please', 'See (link) please'],
    ['Job 764cabcf-b745-4b3e-ae38-1200304cf45b refused', 'Job refused'],
    ['', 'The provider did not accept this input.'],
  ])('says %j as %j', (detail, msg) => {
    expect(fieldErrors({ detail })).toEqual([{ loc: ['body'], msg, type: 'bad_request' }]);
  });

  it('cuts a text before a surrogate pair, not inside it', () => {
    const [msg, input] = [`${'m'.repeat(999)}😀`, `${'i'.repeat(1023)}😀`];
    expect(only({ detail: [{ loc: ['body', 'prompt'], msg, type: 'value_error', input }] })).toMatchObject({
      msg: 'm'.repeat(999),
      input: `${'i'.repeat(1023)}…`,
    });
  });

  it('reads a hundred long entries of any text in less than a second', () => {
    const texts = ['a.', '1-', 'request id', 'request id ', ' ', 'req_', 'https://', '0a0b-'];
    for (const text of texts) {
      const detail = Array.from({ length: 100 }, () => ({ msg: `request id${text.repeat(5000)}` }));
      // Measure processor time, because a busy machine takes longer by the clock.
      const before = process.cpuUsage();
      const fields = fieldErrors({ detail });
      const usedMs = process.cpuUsage(before).user / 1000;
      expect([text, fields?.length, usedMs < 1000]).toEqual([text, 100, true]);
    }
  });

  it('keeps words about money if they name a field’s values', () => {
    const msg = "Input should be 'balance' or 'speed'";
    expect(only({ detail: [{ loc: ['body', 'mode'], msg, type: 'enum' }] })?.msg).toBe(msg);
  });
});
