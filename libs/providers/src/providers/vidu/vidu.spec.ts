import { describe, expect, it } from '@jest/globals';

import { failuresOf } from '../../testing/failures.js';
import { providerOf } from '../../testing/provider-of.js';

const { submitted, polled } = failuresOf(providerOf('vidu'), { path: 'text2video' }, { id: '7' });

describe('vidu codes', () => {
  it.each([
    ['TaskPromptPolicyViolation', 'content_policy'],
    ['AuditSubmitIllegal', 'content_policy'],
    ['CreationPolicyViolation', 'content_policy'],
    ['CreditInsufficient', 'provider_account'],
    ['FieldLacking', 'rejected_input'],
    ['FieldInvalid', 'rejected_input'],
    ['ImageDownloadFailure', 'rejected_input'],
    ['ImageFormatInvalid', 'rejected_input'],
  ])('%s is %s', (code, failureClass) => {
    expect(submitted({ code: 400, reason: code, message: 'x' }, 400)).toBe(`${failureClass}, never`);
    expect(polled({ state: 'failed', err_code: code, creations: [] })).toBe(`${failureClass}, never`);
  });

  it.each([
    ['BadRequest', 'provider_failed, same_call'],
    ['FieldInvalid', 'provider_failed, same_call'],
    ['ModelUnavailable', 'provider_failed, same_call'],
    ['CreditInsufficient', 'provider_account, same_call'],
  ])('%s in reply to a poll: %s', (code, failure) => {
    expect(polled({ code: 400, reason: code, message: 'x' }, 400)).toBe(failure);
  });

  it.each(['QuotaExceeded', 'TooManyRequests', 'SystemThrottling'])(
    '%s means that the submission may be repeated later',
    (code) => {
      expect(submitted({ code: 429, reason: code, message: 'x' }, 429)).toBe(
        'provider_unavailable, new_submit',
      );
    },
  );
});
