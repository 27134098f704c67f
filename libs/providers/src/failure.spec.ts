import { describe, expect, it } from '@jest/globals';

import { type BucketFacts, buckets } from '#errors';

import { type FailureClass, failureClasses } from './contract.js';
import { toRejection } from './failure.js';

describe('toRejection', () => {
  it.each([
    ['rejected_input', 'invalid_input', 422],
    ['content_policy', 'content_policy_violation', 400],
    ['provider_failed', 'provider_error', 502],
    ['provider_timeout', 'provider_timeout', 504],
    ['provider_unavailable', 'service_unavailable', 503],
    ['provider_account', 'provider_error', 502],
    ['model_gone', 'provider_error', 502],
    ['unreadable', 'provider_error', 502],
  ] as [FailureClass, string, number][])('%s is %s, %i', (failureClass, bucket, status) => {
    const rejection = toRejection({ class: failureClass, retry: 'never', note: 'secret' });
    expect(rejection).toMatchObject({ bucket, status, detail: failureClasses[failureClass].publicDetail });
    expect(JSON.stringify(rejection)).not.toContain('secret');
    expect(rejection.fields !== undefined).toBe(status === 422);
  });

  it('uses only statuses that the bucket has', () => {
    for (const failureClass of Object.keys(failureClasses) as FailureClass[]) {
      const { bucket, status } = toRejection({ class: failureClass, retry: 'never' });
      const { status: usual, otherStatuses = [] }: BucketFacts = buckets[bucket];
      expect([usual, ...otherStatuses]).toContain(status);
    }
  });

  it('passes fields on, or adds one entry about the whole body', () => {
    const fields = [{ loc: ['body', 'width'], msg: 'Too large', type: 'less_than_equal' }];
    expect(toRejection({ class: 'rejected_input', retry: 'never', fields }).fields).toBe(fields);
    expect(toRejection({ class: 'rejected_input', retry: 'never', fields: [] }).fields).toEqual([
      { loc: ['body'], msg: 'The model does not accept this input.', type: 'bad_request' },
    ]);
    expect(toRejection({ class: 'content_policy', retry: 'never', fields })).not.toHaveProperty('fields');
  });
});
