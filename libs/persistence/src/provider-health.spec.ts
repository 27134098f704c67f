import { describe, expect, it } from '@jest/globals';
import { stateOf } from './provider-health.js';

type Facts = Parameters<typeof stateOf>[0];

const well: Facts = {
  hasKey: true,
  simulated: false,
  pauses: [],
  runs: 0,
  failed: 0,
  throttled: 0,
  account: null,
};
const byOperator = { askedBy: 'operator' } as const;
const byProvider = { askedBy: 'provider' } as const;

describe('the state of a provider', () => {
  it.each([
    ['ready', {}],
    ['ready', { runs: 20, failed: 4, throttled: 4 }],
    ['ready', { runs: 2, failed: 2 }],
    ['failing', { runs: 3, failed: 3 }],
    ['failing', { runs: 20, failed: 5 }],
    ['throttled', { runs: 12, throttled: 3 }],
    ['throttled', { pauses: [byProvider] }],
    ['failing', { runs: 20, failed: 5, throttled: 15, pauses: [byProvider] }],
    ['no_balance', { account: 'no_balance', runs: 20, failed: 20, pauses: [byProvider] }],
    ['key_rejected', { account: 'key_rejected', simulated: true }],
    ['no_key', { hasKey: false, account: 'key_rejected' }],
    ['paused', { pauses: [byProvider, byOperator], hasKey: false }],
    ['paused', { pauses: [byOperator], hasKey: null }],
    ['simulated', { simulated: true, runs: 20, failed: 4 }],
    ['failing', { simulated: true, runs: 20, failed: 10 }],
    [null, { hasKey: null, runs: 20, failed: 20 }],
  ] as [ReturnType<typeof stateOf>, Partial<Facts>][])('is %s for %j', (state, facts) => {
    expect(stateOf({ ...well, ...facts })).toBe(state);
  });
});
