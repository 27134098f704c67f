import { describe, expect, it } from '@jest/globals';

import type { HttpReply } from './contract.js';
import { job } from './job.js';
import { protocols } from './protocols.js';

const common = {
  base: 'https://provider.example',
  credentialOrigins: [/^https:\/\/provider\.example$/],
  auth: (secret: string) => ({ authorization: `Bearer ${secret}` }),
  rules: [],
};
const adapter = protocols({
  speech: job({ ...common, submit: { url: () => 'https://provider.example/speech' }, fileResults: true }),
  video: job({
    ...common,
    submit: { url: () => 'https://provider.example/video' },
    handle: { id: { path: '/id' }, path: { upstream: 'path' } },
    poll: {
      call: ({ id, path }) => ({ method: 'GET', url: `https://provider.example/${path}/${id}` }),
      status: 'http',
      statuses: { 200: 'succeeded' },
      everyMs: 1000,
    },
    fileResults: true,
    cancel: {
      call: ({ id }) => ({ method: 'DELETE', url: `https://provider.example/video/${id}` }),
      replies: [],
    },
  }),
});
const run = (protocol: string) => ({
  runId: 'r',
  model: 'p/m',
  upstream: { protocol, path: 'videos' },
  body: new TextEncoder().encode('{}'),
});
const reply = (status: number, type: string, body = '{"id":"7"}'): HttpReply => ({
  status,
  headers: { 'content-type': type },
  body: new TextEncoder().encode(body),
});

describe('protocols', () => {
  it('uses the protocol of the row, and then that of the handle', () => {
    expect(adapter.submit(run('speech')).url).toBe('https://provider.example/speech');
    const outcome = adapter.onSubmit(run('video'), reply(200, 'application/json'));
    if (outcome.kind !== 'pending') throw new Error(outcome.kind);
    expect(outcome.handle).toEqual({ v: 1, step: 'poll', id: '7', path: 'videos', protocol: 'video' });
    expect(adapter.resume?.(outcome.handle).url).toBe('https://provider.example/videos/7');
    expect(adapter.onResume?.(outcome.handle, reply(202, 'application/json'))).toMatchObject(outcome);
    expect(adapter.onResume?.(outcome.handle, reply(200, 'video/mp4', 'video'))).toMatchObject({
      kind: 'succeeded',
      output: { mediaType: 'video/mp4' },
    });
    expect(adapter.cancel?.(outcome.handle)?.method).toBe('DELETE');
    expect(adapter.onCancel?.(outcome.handle, reply(204, ''))).toBe('requested');
  });

  it('uses the first if the row names none', () => {
    const unnamed = { ...run('speech'), upstream: { path: 'x' } };
    expect(adapter.submit(unnamed).url).toBe('https://provider.example/speech');
    expect(adapter.onSubmit(unnamed, reply(200, 'audio/mpeg', 'ID3'))).toMatchObject({ kind: 'succeeded' });
  });

  it('accepts a file as the result, but nothing else that is not JSON', () => {
    const spoken = (type: string) => adapter.onSubmit(run('speech'), reply(200, type, 'not JSON'));
    expect(spoken('audio/mpeg')).toMatchObject({ kind: 'succeeded', output: { mediaType: 'audio/mpeg' } });
    expect(spoken('text/html')).toMatchObject({ kind: 'failed', failure: { class: 'unreadable' } });
    expect(adapter.onSubmit(run('speech'), reply(500, 'audio/mpeg'))).toMatchObject({ kind: 'failed' });
  });

  it('throws for a row or a handle without a protocol, and makes no call to cancel if there is none', () => {
    expect(() => adapter.submit(run('other'))).toThrow('there is no protocol other');
    expect(() => adapter.submit(run('constructor'))).toThrow('there is no protocol constructor');
    expect(() => adapter.resume?.({ v: 1, step: 'poll' })).toThrow('there is no protocol undefined');
    const spoken = { v: 1, step: 'poll' as const, protocol: 'speech' };
    expect(adapter.cancel?.(spoken)).toBeUndefined();
    expect(() => adapter.resume?.(spoken)).toThrow('is not polled');
  });
});
