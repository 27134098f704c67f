import { describe, expect, it } from '@jest/globals';
import { failedShare } from './failed-share.ts';

describe('failedShare', () => {
  it('does not count runs that their caller cancelled', () => {
    const errors = { client_disconnected: 5, content_policy_violation: 1, provider_error: 1 };
    expect(failedShare({ requests: 10, succeeded: 3, errors })).toBe('20.0%');
  });

  it('is a dash if no run completed', () => {
    expect(failedShare({ requests: 0, succeeded: 0, errors: {} })).toBe('–');
  });
});
