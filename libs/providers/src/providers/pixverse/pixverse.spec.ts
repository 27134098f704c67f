import { describe, expect, it } from '@jest/globals';

import { failuresOf } from '../../testing/failures.js';
import { providerOf } from '../../testing/provider-of.js';

const { submitted, polled } = failuresOf(
  providerOf('pixverse'),
  { path: 'video/text/generate' },
  { id: '7' },
);
const reply = (code: number) => ({ ErrCode: code, ErrMsg: 'x', Resp: null });
const rejected = ['rejected_input, never', 'provider_failed, same_call'] as const;

describe('pixverse codes', () => {
  it.each([
    ...[400011, 400013, 400017, 400018, 400019, 500030, 500031, 500032, 500033].map(
      (code) => [code, ...rejected] as const,
    ),
    [400012, 'provider_account, never', 'provider_account, same_call'] as const,
    [500020, 'provider_account, never', 'provider_account, same_call'] as const,
    [500044, 'provider_unavailable, new_submit', 'provider_unavailable, same_call'] as const,
    [500054, 'content_policy, never', 'content_policy, never'] as const,
    [500063, 'content_policy, never', 'content_policy, never'] as const,
    [500069, 'provider_unavailable, new_submit', 'provider_unavailable, same_call'] as const,
    [500090, 'provider_account, never', 'provider_account, same_call'] as const,
    [999999, 'provider_failed, never', 'provider_failed, same_call'] as const,
  ])('%i: %s for a submission, %s for a poll', (code, ofSubmission, ofPoll) => {
    expect(submitted(reply(code))).toBe(ofSubmission);
    expect(polled(reply(code))).toBe(ofPoll);
  });
});
