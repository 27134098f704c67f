import { BadSettings } from '#schemas';
import { describe, expect, it } from '@jest/globals';
import { failureLine } from './failure-line.js';

describe('failureLine', () => {
  it('is one line, whatever the message contains', () => {
    expect(failureLine(new Error('first\n  second'))).toBe('error: first second');
  });

  it('lists every invalid setting', () => {
    expect(failureLine(new BadSettings(['DATABASE_URL: expected string', 'JWT_SECRET: too short']))).toBe(
      'error: invalid settings: DATABASE_URL: expected string; JWT_SECRET: too short',
    );
  });

  it('lists the errors of an aggregate without a message', () => {
    const refused = [new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')];
    expect(failureLine(new AggregateError(refused))).toBe(
      'error: connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
    );
  });
});
