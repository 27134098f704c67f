import { describe, expect, it } from '@jest/globals';
import type { Run } from '../contract.js';
import { declaredProvider } from './declared.js';

const submit = { url: '{base}/v1/{upstream.path}' };
const shared = {
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Key {secret}' },
  rules: [{ path: '/error', class: 'provider_failed' }],
};
const several = {
  ...shared,
  protocols: {
    image: { submit: { ...submit, timeout_seconds: 90 } },
    video: {
      submit: { ...submit, encode: { force_false: ['stream'] } },
      handle: { id: { path: '/id' } },
      poll: {
        url: '{base}/v1/jobs/{id}',
        status: '/status',
        statuses: { done: 'succeeded' },
        interval_seconds: 2,
      },
      rules: [{ path: '/error', equals: 'nsfw', class: 'content_policy' }],
    },
  },
};

const { definition } = declaredProvider(several);
const adapter = definition?.create(definition.defaultBase, {});

const run = (protocol: string): Run => ({
  runId: 'r',
  model: 'acme/paint',
  upstream: { path: 'paint', protocol },
  body: new TextEncoder().encode('{"stream":true}'),
});
const sent = (protocol: string) => Buffer.from(adapter?.submit(run(protocol)).body ?? []).toString();
const outcome = (protocol: string, body: string) =>
  adapter?.onSubmit(run(protocol), {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(body),
  });

describe('several protocols of one provider', () => {
  it('uses the protocol of the row, and then that of the handle', () => {
    expect(sent('image')).toBe('{"stream":true}');
    expect(sent('video')).toBe('{"stream":false}');
    expect(outcome('image', '{"a":1}')).toMatchObject({ kind: 'succeeded' });
    expect(outcome('video', '{"id":"7"}')).toMatchObject({
      kind: 'pending',
      handle: { id: '7', protocol: 'video' },
    });
  });

  it('applies the rules of its protocol before the shared rules', () => {
    expect(outcome('video', '{"error":"nsfw"}')).toMatchObject({ failure: { class: 'content_policy' } });
    expect(outcome('image', '{"error":"nsfw"}')).toMatchObject({ failure: { class: 'provider_failed' } });
  });

  it('uses the longest submission timeout of all protocols', () => {
    expect(definition?.submitTimeoutMs).toBe(90_000);
  });

  it('checks each protocol, and accepts either one submission or several protocols', () => {
    const image = { submit: { url: '{base}/{id}' } };
    expect(declaredProvider({ ...shared, protocols: { image } })).toMatchObject({
      problems: [{ path: ['protocols', 'image', 'submit', 'url'], message: 'there is no {id} here' }],
    });
    for (const wrong of [{ ...several, submit }, { ...several, protocols: {} }, shared]) {
      expect(declaredProvider(wrong)).toHaveProperty('problems');
    }
  });
});
