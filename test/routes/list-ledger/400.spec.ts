import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['cursor=abc', 'from=yesterday', 'to=', 'limit=many', 'format=xml', 'format=csv&format=csv'])(
  'rejects %s as invalid_input',
  async (query) => {
    const { caller } = await gateway().caller({}, ['usage']);
    const answer = await caller.call('GET', `/v2/ledger?${query}`);
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  },
);
