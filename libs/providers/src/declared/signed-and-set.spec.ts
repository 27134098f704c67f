import { describe, expect, it } from '@jest/globals';
import type { HttpCall } from '../contract.js';
import { credentialUrl } from '../trusted-origins.js';
import { declaredProvider } from './declared.js';
import { adapterOf, run } from '../testing/declared-adapter.js';

const sound = {
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Key {secret}' },
  submit: { url: '{base}/v1/{upstream.path}' },
};
const credential = { tc3: { service: 'acme' } };
describe('a declared provider', () => {
  it('signs each call in addition to its header fields', () => {
    const adapter = adapterOf({ ...sound, auth: { 'x-version': '2' }, credential });
    const signed = (call: HttpCall) => adapter.credential(call, 'id:key', 0);
    const call = adapter.submit(run);
    expect(signed(call)).toMatchObject({
      'x-version': '2',
      authorization: expect.stringMatching(/^TC3-HMAC-SHA256 Credential=id\/1970-01-01\/acme\/tc3_request,/),
    });
    expect(signed({ ...call, body: run.body.subarray(1) })).not.toEqual(signed(call));
  });

  it('mints a token for each call from a pair of keys, and sends a single key unchanged', () => {
    const adapter = adapterOf({ ...sound, auth: {}, credential: { jwt: { ttl_seconds: 60 } } });
    const { authorization = '' } = adapter.credential(adapter.submit(run), 'access:secret', 100_000);
    const [, claims = ''] = authorization.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: 'access',
      exp: 160,
      nbf: 95,
    });
    expect(adapter.credential(adapter.submit(run), 'single', 0)).toEqual({ authorization: 'Bearer single' });
  });

  it('signs for AWS, and exchanges the key of a service account', () => {
    const aws = adapterOf({ ...sound, credential: { sigv4: { service: 'acme', region: 'eu-west-1' } } });
    expect(aws.credential(aws.submit(run), 'id:key', 0)['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=id\/19700101\/eu-west-1\/acme\/aws4_request, SignedHeaders=content-type;host;/,
    );
    const cloud = adapterOf({ ...sound, auth: {}, credential: { google_service_account: {} } });
    expect(cloud.exchange).toBeDefined();
    expect(cloud.credential(cloud.submit(run), 'token', 0)).toEqual({ authorization: 'Bearer token' });
  });

  it('puts its key only into the query of its own addresses', () => {
    const adapter = adapterOf({ ...sound, auth: {}, auth_query: { key: '{secret}', v: '2' } });
    const call: HttpCall = { method: 'GET', url: 'https://api.acme.example/jobs/1?a=b' };
    expect(credentialUrl(adapter, call, 'a&b')).toBe(`${call.url}&key=a%26b&v=2`);
    const elsewhere: HttpCall = { method: 'GET', url: 'https://files.example/1' };
    expect(credentialUrl(adapter, elsewhere, 'a&b')).toBe(elsewhere.url);
    expect(credentialUrl(adapter, call, undefined)).toBe(call.url);
  });

  it('sets members and sends a list, if declared', () => {
    const encode = { set: { kind: 'image', task: '{uuid}', of: ['{uuid}'] }, list: true };
    const { body, headers } = adapterOf({ ...sound, submit: { ...sound.submit, encode } }).submit(run);
    const [task] = JSON.parse(Buffer.from(body ?? []).toString()) as { task: string }[];
    expect(task).toEqual({ kind: 'image', task: task?.task, of: [task?.task], prompt: 'a cat' });
    expect(headers).toMatchObject({ 'content-type': 'application/json' });
  });

  it.each<[string, object, string]>([
    ['no key in any call', { auth: { 'x-version': '2' } }, 'auth'],
    ['another value than the key in the query', { auth_query: { key: '{base}' } }, 'auth_query.key'],
    [
      'files in a signed body',
      { credential, submit: { ...sound.submit, encode: { form: {} } } },
      'credential',
    ],
    [
      'a placeholder without a value',
      { submit: { ...sound.submit, encode: { set: { task: '{id}' } } } },
      'submit.encode.set',
    ],
  ])('may not have %s', (_what, change, place) => {
    const declared = declaredProvider({ ...sound, ...change });
    const places = declared.definition ? [] : declared.problems.map(({ path }) => path.join('.'));
    expect(places).toContain(place);
  });
});
