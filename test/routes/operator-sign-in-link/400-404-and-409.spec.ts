import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const pathOf = (workspace: string) => `/v2/operator/workspaces/${workspace}/sign-in-links`;

it.each(['{"scopes":["operate"]}', '{"scopes":[]}', '{"key_id":"x"}', '{"hours":1000}', '[]'])(
  'the body %s is rejected',
  async (body) => {
    const { caller, workspace } = await gateway().caller({}, ['operate']);
    const answer = await caller.call('POST', pathOf(workspace.id), { body });
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  },
);

it('an unknown workspace gets suggestions', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('POST', pathOf(`${workspace.name.slice(0, -1)}~`), { body: '{}' });
  expect([answer.status, answer.json()['detail']]).toEqual([
    404,
    expect.stringMatching(/^There is no such workspace\. Did you mean .+\?$/),
  ]);
});

it('a key of another workspace, and a scope that the key lacks, are refused', async () => {
  const customer = await gateway().caller({}, ['run']);
  const { caller, keyId } = await gateway().caller({}, ['operate']);
  const refusal = async (body: object) => {
    const answer = await caller.call('POST', pathOf(customer.workspace.id), { body: JSON.stringify(body) });
    expect([answer.status, answer.bucket]).toEqual([409, 'invalid_input']);
    return answer.json()['detail'];
  };
  expect(await refusal({ key_id: keyId })).toBe('The workspace has no such live API key.');
  expect(await refusal({ key_id: customer.keyId, scopes: ['manage'] })).toBe(
    'The link cannot have a scope that its key lacks.',
  );
});
