import { BadSettings } from '#schemas';
import { describe, expect, it } from '@jest/globals';
import { failureLine } from './failure-line.js';

describe('failureLine', () => {
  it('is one line, whatever the message holds', () => {
    expect(failureLine(new Error('first\n  second'))).toBe('error: first second');
  });

  it('lists every unusable setting', () => {
    expect(failureLine(new BadSettings(['DATABASE_URL: expected string', 'JWT_SECRET: too short']))).toBe(
      'error: the environment is not usable: DATABASE_URL: expected string; JWT_SECRET: too short',
    );
  });

  it('shows what an aggregate without a text of its own consists of', () => {
    const refused = [new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')];
    expect(failureLine(new AggregateError(refused))).toBe(
      'error: connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
    );
  });
});
