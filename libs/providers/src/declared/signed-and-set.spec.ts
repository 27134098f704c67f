import { describe, expect, it } from '@jest/globals';
import type { HttpCall, ProviderAdapter, Run } from '../contract.js';
import { declaredProvider } from './declared.js';

const sound = {
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Key {secret}' },
  submit: { url: '{base}/v1/{upstream.path}' },
};
const signature = { tc3: { service: 'acme' } };
const run: Run = {
  runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
  model: 'acme/paint',
  upstream: { path: 'paint/fast' },
  body: Buffer.from('{"prompt":"a cat"}'),
};

function adapterOf(row: object): ProviderAdapter {
  const declared = declaredProvider(row);
  if (!declared.definition) throw new Error(JSON.stringify(declared.problems));
  return declared.definition.create(declared.definition.defaultBase, {});
}

describe('a declared provider', () => {
  it('signs each call beside its header fields', () => {
    const adapter = adapterOf({ ...sound, auth: { 'x-version': '2' }, signature });
    const signed = (call: HttpCall) => adapter.credential(call, 'id:key', 0);
    const call = adapter.submit(run);
    expect(signed(call)).toMatchObject({
      'x-version': '2',
      authorization: expect.stringMatching(/^TC3-HMAC-SHA256 Credential=id\/1970-01-01\/acme\/tc3_request,/),
    });
    expect(signed({ ...call, body: run.body.subarray(1) })).not.toEqual(signed(call));
  });

  it('sets members and makes a list, where it says so', () => {
    const encode = { set: { kind: 'image', task: '{uuid}', of: ['{uuid}'] }, list: true };
    const { body, headers } = adapterOf({ ...sound, submit: { ...sound.submit, encode } }).submit(run);
    const [task] = JSON.parse(Buffer.from(body ?? []).toString()) as { task: string }[];
    expect(task).toEqual({ kind: 'image', task: task?.task, of: [task?.task], prompt: 'a cat' });
    expect(headers).toMatchObject({ 'content-type': 'application/json' });
  });

  it.each<[string, object, string]>([
    ['no key in any call', { auth: { 'x-version': '2' } }, 'auth'],
    [
      'files in a body that is signed',
      { signature, submit: { ...sound.submit, encode: { form: {} } } },
      'signature',
    ],
    [
      'a member of a value that is not there',
      { submit: { ...sound.submit, encode: { set: { task: '{id}' } } } },
      'submit.encode.set',
    ],
  ])('may not have %s', (_what, change, place) => {
    const declared = declaredProvider({ ...sound, ...change });
    const places = declared.definition ? [] : declared.problems.map(({ path }) => path.join('.'));
    expect(places).toContain(place);
  });
});
