import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['GET', 'DELETE'])(
  '%s answers alike for another workspace, an unknown id and a malformed one',
  async (method) => {
    const [{ caller: owner }, { caller: stranger }] = [await gateway().caller(), await gateway().caller()];
    const id = String((await owner.call('POST', '/v2/files', { body: 'x' })).json()['id']);
    const ids = [id, '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234', 'x', `${id}0`];
    const answers = await Promise.all(ids.map((each) => stranger.call(method, `/v2/files/${each}`)));
    for (const answer of answers) {
      expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
      expect(answer.bytes.toString()).toBe(answers[0]?.bytes.toString());
    }
    expect((await owner.call('GET', `/v2/files/${id}`)).status).toBe(200);
  },
);

it('an expired or deleted file is unknown', async () => {
  const { caller } = await gateway().caller();
  const ids = [];
  for (const body of ['1', '2'])
    ids.push(String((await caller.call('POST', '/v2/files', { body })).json()['id']));
  const [expired, deleted] = ids;
  const text = `UPDATE stored_object SET delete_at = delete_at - interval '24 hours' WHERE owner_id = $1`;
  await gateway().database.work.query(text, [expired]);
  expect((await caller.call('DELETE', `/v2/files/${deleted}`)).status).toBe(204);
  for (const id of ids) {
    expect((await caller.call('GET', `/v2/files/${id}`)).status).toBe(404);
    expect((await caller.call('DELETE', `/v2/files/${id}`)).status).toBe(404);
  }
});
