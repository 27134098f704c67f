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
  it('asks for a value at a place, whichever it is', () => {
    expect(holds({ path: '/error' }, { error: { code: 1 } })).toBe(true);
    expect(holds({ path: '/error' }, { error: null })).toBe(false);
    expect(holds({ path: '/error' }, undefined)).toBe(false);
  });

  it('compares texts and numbers with an expression, nothing else', () => {
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

  it('reads a header, also of a reply that is no JSON', () => {
    const rule: Omit<Rule, 'class'> = { header: 'finish-reason', equals: 'CONTENT_FILTERED' };
    expect(holds(rule, undefined, { headers: { 'finish-reason': 'CONTENT_FILTERED' } })).toBe(true);
    expect(holds(rule, undefined, { headers: { 'finish-reason': 'SUCCESS' } })).toBe(false);
    expect(holds(rule, undefined)).toBe(false);
  });

  it('steps back when something stands at `unless`', () => {
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

  it('looks at phase and status', () => {
    expect(holds({ phase: 'poll' }, {})).toBe(false);
    expect(holds({ http: 'error' }, {}, { status: 503 })).toBe(true);
    expect(holds({ http: 'error' }, {})).toBe(false);
    expect(holds({ http: 429 }, {}, { status: 429 })).toBe(true);
  });
});

describe('holdsAnything', () => {
  it('wants more than null or an empty text', () => {
    expect(holdsAnything({ a: [null, 0] }, '/a/*')).toBe(true);
    expect(holdsAnything({ a: [null, ''] }, '/a/*')).toBe(false);
    expect(holdsAnything({ a: [] }, '/a/*')).toBe(false);
    expect(holdsAnything({ a: 'data:image/png;x="a,b";base64,' }, '/a')).toBe(false);
    expect(holdsAnything({ a: 'data:image/png;x="a,b";base64,aGk=' }, '/a')).toBe(true);
  });
});
