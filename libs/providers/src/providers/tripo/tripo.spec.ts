import { describe, expect, it } from '@jest/globals';

import { failuresOf } from '../../testing/failures.js';
import { providerOf } from '../../testing/provider-of.js';

const { submitted, polled } = failuresOf(providerOf('tripo'), { path: 'task' }, { id: '7' });

describe('tripo codes', () => {
  it.each([
    [2000, 429, 'provider_unavailable, new_submit'],
    [2000, 200, 'provider_unavailable, new_submit'],
    [2002, 400, 'rejected_input, never'],
    [2003, 400, 'rejected_input, never'],
    [2004, 400, 'rejected_input, never'],
    [2008, 400, 'content_policy, never'],
    [2010, 403, 'provider_account, never'],
  ])('%i with HTTP %i: %s', (code, status, failure) => {
    expect(submitted({ code, message: 'x', suggestion: 'y' }, status)).toBe(failure);
  });

  it.each([
    [2002, 400, 'provider_failed, same_call'],
    [2003, 200, 'pending'],
    [2010, 403, 'provider_account, same_call'],
    [2010, 200, 'provider_account, same_call'],
    [2015, 400, 'provider_failed, same_call'],
  ])('%i with HTTP %i, in reply to a poll: %s', (code, status, failure) => {
    expect(polled({ code, message: 'x', suggestion: 'y' }, status)).toBe(failure);
  });

  it.each([
    [2002, 'rejected_input, never'],
    [2010, 'provider_account, never'],
    [2015, 'model_gone, never'],
  ])('a run that failed with %i: %s', (error_code, failure) => {
    expect(polled({ code: 0, data: { task_id: '7', status: 'failed', error_code } })).toBe(failure);
  });

  it.each([
    ['banned', 'content_policy, never'],
    ['expired', 'provider_timeout, never'],
    ['failed', 'provider_failed, never'],
  ])('a run that is %s: %s', (status, failure) => {
    expect(polled({ code: 0, data: { task_id: '7', status } })).toBe(failure);
  });
});
