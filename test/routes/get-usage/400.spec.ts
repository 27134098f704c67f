import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  'group_by=hour',
  'group_by=',
  'group_by=day&group_by=model',
  'group_by=tag',
  'group_by=tag:A',
  'group_by=user,tag:project',
  'from=x',
  'to=',
])('rejects %s as invalid_input', async (query) => {
  const { caller } = await gateway().caller({}, ['usage']);
  const answer = await caller.call('GET', `/v2/usage?${query}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});

it('a tag with more than 10,000 values in the range is rejected, and a shorter range is answered', async () => {
  const { caller, workspace } = await gateway().caller({}, ['usage']);
  await gateway().database.work.query(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, status,
       caller_left, admitted_at, completed_at, cost_micros, billed_micros, attribution)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 'token:x', 'bfl/flux-2-pro', 'bfl', 'POST', 'succeeded', 200, false, at, at, 1, 0,
       jsonb_build_object('tag:call', n::text)
     FROM (SELECT n, '2026-01-01Z'::timestamptz + n * interval '1 second' AS at FROM generate_series(1, 10001) AS n) AS times`,
    [workspace.id],
  );
  const read = (to: string) => caller.call('GET', `/v2/usage?group_by=tag:call&from=2026-01-01&to=${to}`);
  const refused = await read('2026-01-02');
  expect([refused.status, refused.bucket]).toEqual([400, 'invalid_input']);
  expect(refused.json()['detail']).toContain('more than 10000 groups');
  expect((await read('2026-01-01T01:00:00Z')).json()['data']).toHaveLength(3599);
});
