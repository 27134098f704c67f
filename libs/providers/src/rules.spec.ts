import { describe, expect, it } from '@jest/globals';

import type { HttpReply } from './contract.js';
import type { Json } from '#schemas';
import type { Phase } from './condition.js';
import { firstRule, holdsAnything, type Rule } from './rules.js';

const holds = (
  rule: Omit<Rule, 'class'>,
  json: Json | undefined,
  { status = 200, headers = {}, phase = 'submit' }: Partial<HttpReply> & { phase?: Phase } = {},
) =>
  firstRule(
    [{ class: 'provider_failed', ...rule }],
    phase,
    { status, headers, body: new Uint8Array() },
    json,
  ) !== undefined;

describe('a rule', () => {
  it('matches any value at a place', () => {
    expect(holds({ path: '/error' }, { error: { code: 1 } })).toBe(true);
    expect(holds({ path: '/error' }, { error: null })).toBe(false);
    expect(holds({ path: '/error' }, undefined)).toBe(false);
  });

  it('compares only texts and numbers with an expression', () => {
    const rule: Omit<Rule, 'class'> = { path: '/count', matches: /^[1-9]/ };
    expect([1, '2', 0, '0', true, null, ['1']].map((count) => holds(rule, { count }))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('reads a header, even if the reply is not JSON', () => {
    const rule: Omit<Rule, 'class'> = { header: 'finish-reason', equals: 'CONTENT_FILTERED' };
    expect(holds(rule, undefined, { headers: { 'finish-reason': 'CONTENT_FILTERED' } })).toBe(true);
    expect(holds(rule, undefined, { headers: { 'finish-reason': 'SUCCESS' } })).toBe(false);
    expect(holds(rule, undefined)).toBe(false);
  });

  it('does not match if there is a value at `unless`', () => {
    const rule: Omit<Rule, 'class'> = { path: '/data/*/safe', equals: false, unless: '/data/*/url' };
    expect(holds(rule, { data: [{ safe: false, url: null }] })).toBe(true);
    expect(
      holds(rule, {
        data: [
          { safe: false, url: null },
          { safe: true, url: 'https://x' },
        ],
      }),
    ).toBe(false);
  });

  it('checks phase and status', () => {
    expect(holds({ phase: 'poll' }, {})).toBe(false);
    expect(holds({ http: 'error' }, {}, { status: 503 })).toBe(true);
    expect(holds({ http: 'error' }, {})).toBe(false);
    expect(holds({ http: 429 }, {}, { status: 429 })).toBe(true);
  });
});

describe('holdsAnything', () => {
  it.each(['[]', '{}', 'false', 'null', '""', '[null]', '[[]]', '{"url":null}', '[{"url":" "}]'])(
    'finds nothing in %s',
    (value) => expect(holdsAnything({ a: JSON.parse(value) as Json }, '/a')).toBe(false),
  );

  it.each(['0', 'true', '"a"', '[0]', '{"b":[null,{"c":"d"}]}'])('finds something in %s', (value) =>
    expect(holdsAnything({ a: JSON.parse(value) as Json }, '/a')).toBe(true),
  );

  it('ignores null and empty text', () => {
    expect(holdsAnything({ a: [null, 0] }, '/a/*')).toBe(true);
    expect(holdsAnything({ a: [null, ''] }, '/a/*')).toBe(false);
    expect(holdsAnything({ a: [] }, '/a/*')).toBe(false);
    expect(holdsAnything({ a: 'data:image/png;x="a,b";base64,' }, '/a')).toBe(false);
    expect(holdsAnything({ a: 'data:image/png;x="a,b";base64,aGk=' }, '/a')).toBe(true);
  });
});
