import { describe, expect, it } from '@jest/globals';
import type { ProviderAdapter, Run } from '../contract.js';
import { declaredProvider } from './declared.js';

const sound = {
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Key {secret}' },
  submit: { url: '{base}/v1/{upstream.path}' },
};
const polled = {
  ...sound,
  handle: { id: { at: '/id' } },
  poll: {
    url: '{base}/v1/jobs/{id}',
    status: '/status',
    statuses: { done: 'succeeded' },
    every_seconds: 2,
  },
};

function adapterOf(row: object): ProviderAdapter {
  const declared = declaredProvider(row);
  if (!declared.definition) throw new Error(JSON.stringify(declared.problems));
  return declared.definition.create(declared.definition.defaultBase, {});
}

const run: Run = {
  runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
  model: 'acme/paint',
  upstream: { path: 'paint/fast' },
  body: new TextEncoder().encode('{"prompt":"a cat"}'),
};
const reply = (body: string, status = 200, type = 'application/json') => ({
  status,
  headers: { 'content-type': type },
  body: new TextEncoder().encode(body),
});

describe('a declared provider', () => {
  it.each([
    ['bytes', 'application/octet-stream', 'OggS', 'succeeded'],
    ['bytes of another name', 'binary/octet-stream', 'OggS', 'succeeded'],
    ['a type of an application', 'application/ogg', 'OggS', 'succeeded'],
    ['JSON under such a type', 'application/octet-stream', '{"error":"x"}', 'failed'],
    ['nothing', 'application/octet-stream', '', 'failed'],
    ['JSON that breaks off', 'application/problem+json', '{"error', 'failed'],
    ['a page', 'text/html', '<html>', 'failed'],
    ['a document', 'application/xml', '<a/>', 'failed'],
  ])('looks for a file in %s, %s', (_, type, body, kind) => {
    const adapter = adapterOf({ ...sound, files: true, result_at: [] });
    expect(adapter.onSubmit(run, reply(body, 200, type)).kind).toBe(kind);
    expect(adapterOf(sound).onSubmit(run, reply('OggS', 200, type)).kind).toBe('failed');
  });

  it('takes what comes without a type for a file unless it begins like a text', () => {
    const adapter = adapterOf({ ...sound, files: true, result_at: [] });
    const untyped = (body: string) => adapter.onSubmit(run, { ...reply(body), headers: {} });
    expect(untyped('OggS')).toMatchObject({ output: { mediaType: 'application/octet-stream' } });
    for (const body of ['', '{"cut', ' <html>']) expect(untyped(body)).toMatchObject({ kind: 'failed' });
  });

  it('makes no call to cancel a run whose reply named no address for it', () => {
    const adapter = adapterOf({
      ...polled,
      handle: { ...polled.handle, cancelUrl: { at: '/urls/cancel', url: true, optional: true } },
      cancel: { method: 'PUT', url: '{cancelUrl}' },
    });
    const cancelOf = (body: string) => {
      const outcome = adapter.onSubmit(run, reply(body));
      if (outcome.kind !== 'pending') throw new Error(outcome.kind);
      return adapter.cancel?.(outcome.handle)?.url;
    };
    const url = 'https://api.acme.example/c/1';
    expect(cancelOf(`{"id":"1","urls":{"cancel":"${url}"}}`)).toBe(url);
    expect(cancelOf('{"id":"1"}')).toBeUndefined();
  });
});
