import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['group_by=hour', 'group_by=', 'group_by=day&group_by=model', 'group_by=tag', 'group_by=tag:A', 'group_by=user,tag:project', 'from=x', 'to='])(
  'rejects %s as invalid_input',
  async (query) => {
    const { caller } = await gateway().caller({}, ['usage']);
    const answer = await caller.call('GET', `/v2/usage?${query}`);
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  },
);
