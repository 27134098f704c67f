import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { credentialHeaders, type HttpCall, providerList } from '#providers';
import { call, startWithCaller, type Caller } from '../../apps/simulator/src/testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller()));
afterAll(() => caller.simulator.close());

/** Sends the router's call with a change made after signing. */
async function send(change: Partial<HttpCall>, signedAgoMs = 0) {
  const definition = providerList.find(({ name }) => name === 'tencent');
  if (!definition) throw new Error('tencent is not defined');
  const adapter = definition.create(`${caller.simulator.api}/tencent`, {});
  const submission = adapter.submit({
    runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
    model: 'tencent/m',
    upstream: { path: 'SubmitHunyuanTo3DUVJob', query: 'DescribeHunyuanTo3DUVJob' },
    body: Buffer.from('{"File":{"Type":"GLB"},"Prompt":"a"}'),
  });
  const key = 'simulated-secret-id:simulated-secret-key';
  const signature = credentialHeaders(adapter, submission, key, Date.now() - signedAgoMs);
  const { method, url, headers, body } = { ...submission, ...change };
  return (await call(url, { method, headers: { ...signature, ...headers }, body: Buffer.from(body ?? '') }))
    .text;
}

it.each<[string, Partial<HttpCall>, number]>([
  ['another body', { body: Buffer.from('{"File":{"Type":"FBX"}}') }, 0],
  ['no signature', { headers: { 'content-type': 'application/json', authorization: 'none' } }, 0],
  ['another media type', { headers: { 'content-type': 'application/json; charset=utf-8' } }, 0],
  ['an old signature', {}, 400_000],
])('rejects %s', async (_what, change, signedAgoMs) => {
  expect(await send(change, signedAgoMs)).toContain('AuthFailure.SignatureFailure');
});

it('a signed call is accepted', async () => {
  expect(await send({})).toMatch(/"JobId":"\d+"/);
});
