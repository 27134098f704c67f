import { describe, expect, it } from '@jest/globals';

import { failuresOf } from '../../testing/failures.js';
import { providerOf } from '../../testing/provider-of.js';

const { submitted, polled } = failuresOf(providerOf('tripo'), { path: 'task' }, { id: '7' });

describe('tripo codes', () => {
  it.each([
    [2000, 429, 'partner_unavailable, new_submit'],
    [2000, 200, 'partner_unavailable, new_submit'],
    [2002, 400, 'rejected_input, never'],
    [2003, 400, 'rejected_input, never'],
    [2004, 400, 'rejected_input, never'],
    [2008, 400, 'content_policy, never'],
    [2010, 403, 'partner_account, never'],
  ])('%i with HTTP %i: %s', (code, status, failure) => {
    expect(submitted({ code, message: 'x', suggestion: 'y' }, status)).toBe(failure);
  });

  it.each([
    ['banned', 'content_policy, never'],
    ['expired', 'partner_timeout, never'],
    ['failed', 'partner_failed, never'],
  ])('a run that is %s: %s', (status, failure) => {
    expect(polled({ code: 0, data: { task_id: '7', status } })).toBe(failure);
  });
});
