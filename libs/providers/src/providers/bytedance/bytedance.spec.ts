import { describe, expect, it } from '@jest/globals';

import { failuresOf } from '../../testing/failures.js';
import { providerOf } from '../../testing/provider-of.js';

const { submitted, polled } = failuresOf(
  providerOf('bytedance'),
  { path: 'contents/generations/tasks', protocol: 'video' },
  { id: '7', protocol: 'video' },
);
const error = (code: string) => ({
  error: { code, message: 'x Request id: 0217862d', param: '', type: 'y' },
});

describe('bytedance codes', () => {
  it.each([
    ['InputTextSensitiveContentDetected', 400, 'content_policy, never'],
    ['InputImageSensitiveContentDetected.PrivacyInformation', 400, 'content_policy, never'],
    ['OutputAudioSensitiveContentDetected', 400, 'content_policy, never'],
    ['InputTextRiskDetection', 400, 'content_policy, never'],
    ['InvalidParameter', 400, 'rejected_input, never'],
    ['InvalidParameter.UnsupportedImageFormat', 400, 'rejected_input, never'],
    ['MissingParameter', 400, 'rejected_input, never'],
    ['AuthenticationError', 401, 'provider_account, never'],
    ['AccountOverdueError', 403, 'provider_account, never'],
    ['AccessDenied', 403, 'provider_account, never'],
    ['InvalidEndpointOrModel.NotFound', 404, 'model_gone, never'],
    ['ModelNotOpen', 404, 'provider_account, never'],
    ['RateLimitExceeded.EndpointTPMExceeded', 429, 'provider_unavailable, new_submit'],
    // The text may mean a full queue or a quota.
    ['QuotaExceeded', 429, 'provider_unavailable, new_submit'],
    ['SetLimitExceeded', 429, 'provider_account, never'],
    ['ServerOverloaded', 429, 'provider_unavailable, new_submit'],
    ['InternalServiceError', 500, 'provider_failed, never'],
  ])('%s with HTTP %i: %s', (code, status, failure) => {
    expect(submitted(error(code), status)).toBe(failure);
  });

  it.each([
    ['InvalidParameter', 400, 'provider_failed, same_call'],
    ['AccountOverdueError', 403, 'provider_account, same_call'],
  ])('%s with HTTP %i, in reply to a poll: %s', (code, status, failure) => {
    expect(polled(error(code), status)).toBe(failure);
  });

  it.each([
    ['InputImageSensitiveContentDetected', 'content_policy, never'],
    ['OutputVideoSensitiveContentDetected', 'content_policy, never'],
    ['OutputVideoRiskDetection', 'content_policy, never'],
    ['InvalidParameter.Ratio', 'rejected_input, never'],
    ['InternalServiceError', 'provider_failed, never'],
  ])('a run that failed with %s: %s', (code, failure) => {
    expect(polled({ id: '7', status: 'failed', ...error(code) })).toBe(failure);
  });
});
