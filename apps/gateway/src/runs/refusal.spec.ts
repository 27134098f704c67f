import { describe, expect, it } from '@jest/globals';
import { refusal } from './refusal.js';

const numbers = {
  kind: 'refused',
  inflight: 3,
  inflightLimit: 3,
  committedMicros: 0,
  committedLimitMicros: 0,
  backlogLimit: 7,
  windowLimit: 600,
  windowLeft: 0,
  windowEndsInMs: 20_000,
  costMicros: 60_000,
  boundMicros: 900_000,
  balanceMicros: 50_000,
  heldMicros: 10_000,
  excessMicros: 0,
  overdraftLimitMicros: 20_000_000,
} as const;

describe('refusal', () => {
  it.each([
    ['month', '2026-12-01T00:00:00+00:00', 429, 'rate_limited', 'It resets at 2026-12-01T00:00:00.000Z.'],
    ['total', null, 402, 'insufficient_credits', 'It does not reset.'],
  ] as const)('names the budget of a %s, without headers', (window, resetsAt, status, bucket, resets) => {
    const amounts = { limitMicros: 5_000_000, spentMicros: 4_000_000, reservedMicros: 999_999 };
    const error = refusal({
      ...numbers,
      limit: 'budget',
      budget: { name: 'web', window, ...amounts, resetsAt },
    });
    expect([error.status, error.bucket, error.headers]).toEqual([status, bucket, {}]);
    expect(error.publicDetail).toBe(
      `The budget "web" has no room for this call: it needs 6 cents; its limit is 500 cents, of which 400 are spent and 99.9999 reserved. ${resets}`,
    );
  });

  it.each([
    ['credits', 402, 'insufficient_credits', 'credits'],
    ['window', 429, 'rate_limited', '600 runs per minute'],
    ['inflight', 429, 'concurrency_limit_exceeded', '3 calls in flight'],
    ['backlog', 429, 'concurrency_limit_exceeded', '7 requests waiting'],
    ['spend', 429, 'concurrency_limit_exceeded', 'committed spend'],
    ['ceiling', 429, 'concurrency_limit_exceeded', 'waiting will not help'],
  ] as const)('names the limit %s', (limit, status, bucket, text) => {
    const error = refusal({ ...numbers, limit });
    expect([error.status, error.bucket]).toEqual([status, bucket]);
    expect(error.publicDetail).toContain(text);
    expect(Object.keys(error.headers)).toHaveLength(limit === 'spend' || limit === 'ceiling' ? 3 : 0);
  });

  it('says what was needed, what was there, and which field lowers it', () => {
    const open = { field: 'max_output_tokens', isSet: false };
    expect(textOf({ ...numbers, limit: 'credits' }, open)).toBe(
      'The workspace does not have enough credits for this call: it needs 6 cents; the balance is 5 cents, of which 1 are reserved. Set max_output_tokens to reserve less.',
    );
    const rich = { balanceMicros: 100_000, overdraftLimitMicros: 500_000, excessMicros: 200_000 };
    expect(textOf({ ...numbers, ...rich, limit: 'credits' }, { ...open, isSet: true })).toBe(
      'The workspace does not have enough credits for this call: it may cost up to 90 cents; the balance is 10 cents, of which 1 are reserved, live runs may cost 20 more, and the overdraft is 50. A lower max_output_tokens reserves less.',
    );
    expect(textOf({ ...numbers, committedLimitMicros: 80_000, limit: 'spend' }, open)).toContain(
      'which needs 6 cents of 8, of which 0 are committed; retry when one finishes. Set max_output_tokens to reserve less.',
    );
    expect(textOf({ ...numbers, committedLimitMicros: 50_000, limit: 'ceiling' })).toContain('6 cents of 5');
  });

  it.each([
    [1_000_000, 0, ['100', '0', '100']],
    [1_000_000, 1, ['100', '1', '99']],
    [1_000_000, 10_000, ['100', '1', '99']],
    [1_000_000, 995_001, ['100', '100', '0']],
    [1_000_000, 2_000_000, ['100', '200', '0']],
    [15_000, 0, ['1', '0', '1']],
  ])('states a limit of %i with %i committed in cents', (committedLimitMicros, committedMicros, cents) => {
    const { headers } = refusal({ ...numbers, limit: 'spend', committedLimitMicros, committedMicros });
    expect(Object.values(headers)).toEqual(cents);
  });
});

const textOf = (...given: Parameters<typeof refusal>) => refusal(...given).publicDetail;
