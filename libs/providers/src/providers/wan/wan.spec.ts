import { describe, expect, it } from '@jest/globals';

import { failuresOf } from '../../testing/failures.js';
import { providerOf } from '../../testing/provider-of.js';

const { submitted, polled } = failuresOf(
  providerOf('wan'),
  { path: 'services/aigc/text2image/image-synthesis' },
  { id: '7' },
);

describe('wan codes', () => {
  it.each([
    ['DataInspectionFailed', 400, 'content_policy'],
    ['InvalidParameter', 400, 'rejected_input'],
    ['InvalidURL', 400, 'rejected_input'],
    ['Arrearage', 400, 'provider_account'],
  ])('%s: %s', (code, status, failureClass) => {
    expect(submitted({ code, message: 'x', request_id: 'y' }, status)).toBe(`${failureClass}, never`);
    expect(polled({ output: { task_id: '7', task_status: 'FAILED', code, message: 'x' } })).toBe(
      `${failureClass}, never`,
    );
  });

  it.each([
    ['InvalidParameter', 'provider_failed, same_call'],
    ['Arrearage', 'provider_account, same_call'],
  ])('%s in reply to a poll: %s', (code, failure) => {
    expect(polled({ code, message: 'x', request_id: 'y' }, 400)).toBe(failure);
  });

  it.each(['Throttling', 'Throttling.RateQuota', 'Throttling.AllocationQuota'])(
    '%s means that the submission may be repeated later',
    (code) => {
      expect(submitted({ code, message: 'x', request_id: 'y' }, 429)).toBe(
        'provider_unavailable, new_submit',
      );
    },
  );
});
