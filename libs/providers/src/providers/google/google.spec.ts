import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import { google } from './google.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const secret = JSON.stringify({
  type: 'service_account',
  client_email: 'router@my-project.iam.gserviceaccount.com',
  private_key: privateKey,
  private_key_id: 'key-1',
  token_uri: 'https://oauth2.googleapis.com/token',
});
const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();
const bytes = (value: string) => new TextEncoder().encode(value);
const reply = (body: string) => ({ status: 200, headers: {}, body: bytes(body) });

const run = (body: string) => ({
  runId: '0197c2a4',
  model: 'veo/veo-3.1-generate-001',
  upstream: { protocol: 'video', path: 'veo-3.1-generate-001' },
  body: bytes(body),
});

describe('the exchange of a service account’s key for a token', () => {
  const { exchange } = google.create(google.defaultBase, {});

  it('sends a signed assertion, but no part of the key', () => {
    const call = exchange?.call(secret, nowMs);
    expect(call?.url).toBe('https://oauth2.googleapis.com/token');
    const form = new URLSearchParams(text(call?.body));
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header, claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: 'router@my-project.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat: nowMs / 1000,
      exp: nowMs / 1000 + 3600,
    });
    const verify = createVerify('RSA-SHA256').update(`${header}.${claims}`);
    expect(verify.verify(publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(JSON.stringify(call)).not.toContain('PRIVATE KEY');
  });

  it('reads the token, and rejects other replies', () => {
    expect(
      exchange?.read(reply('{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}')),
    ).toEqual({
      token: 'ya29.x',
      lifeMs: 3_599_000,
    });
    expect(exchange?.read(reply('{"id_token":"x"}'))).toBeUndefined();
    expect(exchange?.read(reply('<html>'))).toBeUndefined();
  });

  it.each(['', 'AIza-a-key', '{"type":"authorized_user"}'])('rejects the key %j', (other) => {
    expect(() => exchange?.call(other, nowMs)).toThrow(/JSON|client_email/);
  });
});

const at = (location: string | undefined, base = google.defaultBase) => {
  const adapter = google.create(base, { PROJECT: 'p', LOCATION: 'us-central1' });
  const { upstream, ...rest } = run('{}');
  return {
    adapter,
    ...adapter.submit({ ...rest, upstream: { ...upstream, ...(location && { location }) } }),
  };
};

describe('the location of a model', () => {
  const model = 'publishers/google/models/veo-3.1-generate-001:predictLongRunning';

  it.each([
    [undefined, 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1'],
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4'],
    ['global', 'https://aiplatform.googleapis.com/v1/projects/p/locations/global'],
  ])('%s from its row decides host and path', (location, place) => {
    const { adapter, url } = at(location);
    expect(url).toBe(`${place}/${model}`);
    expect(adapter.credentialOrigins.some((origin) => origin.test(new URL(url).origin))).toBe(true);
  });

  it('is only in the path if the base is not a host of Google’s', () => {
    expect(at('global', 'http://127.0.0.1:4010/google').url).toBe(
      `http://127.0.0.1:4010/google/projects/p/locations/global/${model}`,
    );
  });

  it('is that of the operation for polls', () => {
    const { adapter } = at('global');
    const handle = { v: 1, step: 'poll', protocol: 'video', model: 'veo-3.1-generate-001' } as const;
    const name = 'projects/p/locations/global/publishers/google/models/veo-3.1-generate-001/operations/1';
    expect(adapter.resume?.({ ...handle, name }).url).toBe(
      'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/veo-3.1-generate-001:fetchPredictOperation',
    );
  });
});

describe('videos in our own bucket', () => {
  const adapter = google.create(google.defaultBase, { STORAGE_URI: 'gs://my-bucket/videos/' });
  const target = '"storageUri":"gs://my-bucket/videos/0197c2a4/"';

  it.each([
    ['{"instances":[{"prompt":"a"}]}', `{"parameters":{${target}},"instances":[{"prompt":"a"}]}`],
    [
      '{ "parameters" : {"seed": 1.0 }, "instances":[]}',
      `{ "parameters" : {${target},"seed": 1.0 }, "instances":[]}`,
    ],
    ['{"parameters":{ }}', `{"parameters":{${target} }}`],
    [
      '{"parameters":{"seed":1.0,"storageUri": null}}',
      '{"parameters":{"seed":1.0,"storageUri": "gs://my-bucket/videos/0197c2a4/"}}',
    ],
    ['{"parameters":{"storage_uri":""}}', '{"parameters":{"storage_uri":"gs://my-bucket/videos/0197c2a4/"}}'],
  ])('are requested in %s', (body, sent) => {
    expect(text(adapter.submit(run(body)).body)).toBe(sent);
  });

  const sign = (body: string) => {
    const before = { mediaType: 'application/json', body: bytes(body) };
    const output = adapter.sign?.(before, '0197c2a4', secret, nowMs);
    return text(output?.body instanceof Uint8Array ? output.body : undefined);
  };

  it('are returned as links that Google’s store verifies, valid for 24 hours', () => {
    const before = '{"seed":1.0,"videos":[{"gcsUri": "gs://my-bucket/videos/0197c2a4/a b.mp4"}]}';
    const signed = sign(before);
    const [, link = ''] = /"gcsUri": "([^"]+)"/.exec(signed) ?? [];
    expect(signed).toBe(`{"seed":1.0,"videos":[{"gcsUri": "${link}"}]}`);
    const url = new URL(link);
    expect(url.origin + url.pathname).toBe(
      'https://storage.googleapis.com/my-bucket/videos/0197c2a4/a%20b.mp4',
    );
    expect(url.searchParams.get('X-Goog-Expires')).toBe('86400');
    const query = url.search.slice(1).replace(/&X-Goog-Signature=.*$/, '');
    const request = `GET\n${url.pathname}\n${query}\nhost:storage.googleapis.com\n\nhost\nUNSIGNED-PAYLOAD`;
    const digest = createHash('sha256').update(request).digest('hex');
    const toSign = `GOOG4-RSA-SHA256\n20260102T030405Z\n20260102/auto/storage/goog4_request\n${digest}`;
    const signature = Buffer.from(url.searchParams.get('X-Goog-Signature') ?? '', 'hex');
    expect(createVerify('RSA-SHA256').update(toSign).verify(publicKey, signature)).toBe(true);
  });

  it('leaves other addresses, and results without one, unchanged', () => {
    for (const body of [
      '{"gcsUri":"gs://elsewhere/videos/a.mp4"}',
      '{"gcsUri":"gs://my-bucket/videosish/a"}',
      '{"gcsUri":"gs://my-bucket/videos/0197c2a5/a.mp4"}',
      '{"gcsUri":"gs://my-bucket/videos/0197c2a45/a.mp4"}',
      '{ }',
    ])
      expect(sign(body)).toBe(body);
    expect(google.create(google.defaultBase, {})).not.toHaveProperty('sign');
  });
});
