import type { Ending } from '#persistence';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { operatorActions } from '../operator-actions.js';

const gateway = sharedGateway();
// No other file pins runs of this model.
const model = 'bfl/flux-2-pro';
const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"a":1}'),
};

/** A run of a workspace, and calls about it by an operator of another one. */
async function setUp(ending: Ending | null = succeeded) {
  const { caller: owner, workspace } = await gateway().caller({ allowSamples: true }, [
    'run',
    'requests',
    'manage',
    'catalog',
  ]);
  const { caller: operator } = await gateway().caller({}, ['operate']);
  const run = await owner.submit(model, '{"prompt":"sample"}');
  if (ending !== null) await gateway().finish(run, ending);
  const sample = (method: 'PUT' | 'DELETE') => operator.call(method, `/v2/operator/samples/${run.requestId}`);
  return { owner, operator, workspace, run, sample };
}

const tokens = async () => {
  const { caller } = await gateway().caller({}, ['catalog']);
  const { data } = (await caller.call('GET', `/v2/models/${model}/samples`)).json() as {
    data: { token: string }[];
  };
  return data.map(({ token }) => token);
};
const open = async (token: string) =>
  fetch(`${gateway().url}/v2/shared/${token}/input`, { signal: AbortSignal.timeout(30_000) });

it('204: every workspace sees the input and the output until the run is unpinned, and the run stays kept', async () => {
  const { owner, operator, workspace, run, sample } = await setUp();
  for (let times = 0; times < 2; times += 1) expect((await sample('PUT')).status).toBe(204);
  const [token = ''] = await tokens();
  expect(await (await open(token)).text()).toBe(run.body);
  const seen = async () => (await operator.call('GET', `/v2/operator/runs/${run.requestId}`)).json();
  expect(await seen()).toMatchObject({ pinned_at: expect.any(String) });
  for (let times = 0; times < 2; times += 1) expect((await sample('DELETE')).status).toBe(204);
  expect(await tokens()).not.toContain(token);
  expect((await open(token)).status).toBe(404);
  expect(await seen()).not.toHaveProperty('pinned_at');
  expect((await owner.call('GET', `/v2/requests/${run.requestId}`)).json()).toMatchObject({ kept: true });
  const details = { workspace: workspace.name, model };
  expect(await operatorActions(gateway(), run.requestId)).toMatchObject([
    { action: 'sample.pin', details },
    { action: 'sample.unpin', details },
  ]);
});

it('ends when the workspace deletes the run, no longer keeps it, or revokes its link', async () => {
  for (const path of ['', '/kept', '/share']) {
    const { owner, run, sample } = await setUp();
    expect((await sample('PUT')).status).toBe(204);
    const [token = ''] = await tokens();
    expect((await owner.call('DELETE', `/v2/requests/${run.requestId}${path}`)).status).toBe(204);
    expect(await tokens()).not.toContain(token);
  }
});

it('409: a run that has not succeeded; 410: one that was deleted; 404: an unknown run or model; 403: no operator, or a workspace that does not allow it', async () => {
  const { owner, run, sample } = await setUp(null);
  expect((await sample('PUT')).status).toBe(409);
  expect((await owner.call('PUT', `/v2/operator/samples/${run.requestId}`)).status).toBe(403);
  await gateway().finish(run, {
    outcome: 'failed',
    bucket: 'provider_error',
    status: 502,
    detail: 'x',
    billable: false,
  });
  expect((await sample('PUT')).status).toBe(409);
  const { caller: private_ } = await gateway().caller({}, ['run']);
  const withheld = await private_.submit(model, '{"prompt":"sample"}');
  await gateway().finish(withheld, succeeded);
  const { caller: operator } = await gateway().caller({}, ['operate']);
  const refused = await operator.call('PUT', `/v2/operator/samples/${withheld.requestId}`);
  expect([refused.status, refused.bucket]).toEqual([403, 'forbidden']);
  expect(await operatorActions(gateway(), withheld.requestId)).toEqual([]);
  const deleted = await setUp();
  await deleted.owner.call('DELETE', `/v2/requests/${deleted.run.requestId}`);
  expect((await deleted.sample('PUT')).status).toBe(410);
  expect((await deleted.operator.call('PUT', '/v2/operator/samples/x')).status).toBe(404);
  expect((await owner.call('GET', '/v2/models/bfl/none/samples')).status).toBe(404);
});
