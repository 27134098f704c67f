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
    [1000, 'partner_failed, never', 'partner_failed, same_call'],
    [1001, 'partner_timeout, never', 'partner_timeout, same_call'],
    [1002, 'partner_unavailable, new_submit', 'partner_unavailable, same_call'],
    [1004, 'partner_account, never', 'partner_account, same_call'],
    [1008, 'partner_account, never', 'partner_account, same_call'],
    [1024, 'partner_failed, never', 'partner_failed, same_call'],
    [1026, 'content_policy, never', 'content_policy, never'],
    [1027, 'content_policy, never', 'content_policy, never'],
    [1033, 'partner_failed, never', 'partner_failed, same_call'],
    [1039, 'partner_unavailable, new_submit', 'partner_unavailable, same_call'],
    [1041, 'partner_unavailable, new_submit', 'partner_unavailable, same_call'],
    [1042, 'rejected_input, never', 'partner_failed, same_call'],
    [1043, 'rejected_input, never', 'partner_failed, same_call'],
    [1044, 'rejected_input, never', 'partner_failed, same_call'],
    [2013, 'rejected_input, never', 'partner_failed, same_call'],
    [2037, 'rejected_input, never', 'partner_failed, same_call'],
    [2038, 'rejected_input, never', 'partner_failed, same_call'],
    [2039, 'rejected_input, never', 'partner_failed, same_call'],
    [20132, 'rejected_input, never', 'partner_failed, same_call'],
    [2049, 'partner_account, never', 'partner_account, same_call'],
    [2056, 'partner_account, never', 'partner_account, same_call'],
    [9999, 'partner_failed, never', 'partner_failed, same_call'],
  ])('%i: %s of a submission, %s of a poll', (code, ofSubmission, ofPoll) => {
    expect(submitted(reply(code))).toBe(ofSubmission);
    expect(polled(reply(code))).toBe(ofPoll);
  });

  it.each([
    [1000, 'partner_failed, never'],
    [1008, 'partner_failed, never'],
    [1027, 'content_policy, never'],
    [2013, 'rejected_input, never'],
  ])('%i of a run that has failed: %s', (code, failure) => {
    expect(polled({ ...reply(code), task_id: '7', status: 'Fail' })).toBe(failure);
  });
});
