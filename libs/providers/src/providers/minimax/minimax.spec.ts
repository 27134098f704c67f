import { describe, expect, it } from '@jest/globals';

import { providerList } from '../../providers.js';
import { failuresOf } from '../../testing/failures.js';

const minimax = providerList.find(({ name }) => name === 'minimax');
if (!minimax) throw new Error('there is no minimax');

const { submitted, polled } = failuresOf(
  minimax,
  { path: 'video_generation', protocol: 'video' },
  { taskId: '7', protocol: 'video' },
);
const reply = (code: number) => ({ task_id: '', base_resp: { status_code: code, status_msg: 'x' } });

describe('minimax codes', () => {
  it.each([
    [1000, 'provider_failed, never', 'provider_failed, same_call'],
    [1001, 'provider_timeout, never', 'provider_timeout, same_call'],
    [1002, 'provider_unavailable, new_submit', 'provider_unavailable, same_call'],
    [1004, 'provider_account, never', 'provider_account, same_call'],
    [1008, 'provider_account, never', 'provider_account, same_call'],
    [1024, 'provider_failed, never', 'provider_failed, same_call'],
    [1026, 'content_policy, never', 'content_policy, never'],
    [1027, 'content_policy, never', 'content_policy, never'],
    [1033, 'provider_failed, never', 'provider_failed, same_call'],
    [1039, 'provider_unavailable, new_submit', 'provider_unavailable, same_call'],
    [1041, 'provider_unavailable, new_submit', 'provider_unavailable, same_call'],
    [1042, 'rejected_input, never', 'provider_failed, same_call'],
    [1043, 'rejected_input, never', 'provider_failed, same_call'],
    [1044, 'rejected_input, never', 'provider_failed, same_call'],
    [2013, 'rejected_input, never', 'provider_failed, same_call'],
    [2037, 'rejected_input, never', 'provider_failed, same_call'],
    [2038, 'rejected_input, never', 'provider_failed, same_call'],
    [2039, 'rejected_input, never', 'provider_failed, same_call'],
    [20132, 'rejected_input, never', 'provider_failed, same_call'],
    [2049, 'provider_account, never', 'provider_account, same_call'],
    [2056, 'provider_account, never', 'provider_account, same_call'],
    [9999, 'provider_failed, never', 'provider_failed, same_call'],
  ])('%i: %s for a submission, %s for a poll', (code, ofSubmission, ofPoll) => {
    expect(submitted(reply(code))).toBe(ofSubmission);
    expect(polled(reply(code))).toBe(ofPoll);
  });

  it.each([
    [1000, 'provider_failed, never'],
    [1008, 'provider_failed, never'],
    [1027, 'content_policy, never'],
    [2013, 'rejected_input, never'],
  ])('%i for a run that has failed: %s', (code, failure) => {
    expect(polled({ ...reply(code), task_id: '7', status: 'Fail' })).toBe(failure);
  });
});
