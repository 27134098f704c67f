import { describe, expect, it } from '@jest/globals';
import { adapterOf, reply, run } from '../testing/declared-adapter.js';

const sound = {
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Key {secret}' },
  submit: { url: '{base}/v1/{upstream.path}' },
};
const polled = {
  ...sound,
  handle: { id: { path: '/id' } },
  poll: {
    url: '{base}/v1/jobs/{id}',
    status: '/status',
    statuses: { done: 'succeeded' },
    interval_seconds: 2,
  },
};

describe('a declared provider', () => {
  it.each([
    ['bytes', 'application/octet-stream', 'OggS', 'succeeded'],
    ['bytes under another name', 'binary/octet-stream', 'OggS', 'succeeded'],
    ['an application type', 'application/ogg', 'OggS', 'succeeded'],
    ['JSON under such a type', 'application/octet-stream', '{"error":"x"}', 'failed'],
    ['nothing', 'application/octet-stream', '', 'failed'],
    ['truncated JSON', 'application/problem+json', '{"error', 'failed'],
    ['a page', 'text/html', '<html>', 'failed'],
    ['a document', 'application/xml', '<a/>', 'failed'],
  ])('checks whether the reply is a file: %s, %s', (_, type, body, kind) => {
    const adapter = adapterOf({ ...sound, file_results: true, result_paths: [] });
    expect(adapter.onSubmit(run, reply(body, 200, type)).kind).toBe(kind);
    expect(adapterOf(sound).onSubmit(run, reply('OggS', 200, type)).kind).toBe('failed');
  });

  it('treats a reply without a type as a file unless it starts like text', () => {
    const adapter = adapterOf({ ...sound, file_results: true, result_paths: [] });
    const untyped = (body: string) => adapter.onSubmit(run, { ...reply(body), headers: {} });
    expect(untyped('OggS')).toMatchObject({ output: { mediaType: 'application/octet-stream' } });
    for (const body of ['', '{"cut', ' <html>']) expect(untyped(body)).toMatchObject({ kind: 'failed' });
  });

  it('makes no call to cancel a run if the reply had no URL for it', () => {
    const adapter = adapterOf({
      ...polled,
      handle: { ...polled.handle, cancelUrl: { path: '/urls/cancel', url: true, optional: true } },
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
