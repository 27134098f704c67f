import { describe, expect, it } from '@jest/globals';

import type { HttpReply, Run } from './contract.js';
import { job } from './job.js';

const run: Run = { runId: 'r', model: 'p/m', upstream: {}, body: new TextEncoder().encode('{"seed": 1.0}') };

const reply = (status: number, body: unknown, headers: Record<string, string> = {}): HttpReply => ({
  status,
  headers,
  body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
});

const common = {
  base: 'https://provider.example',
  credentialOrigins: [/^https:\/\/provider\.example$/],
  auth: (secret: string, nowMs: number) => ({ authorization: `Bearer ${secret}.${nowMs}` }),
};

describe('a result in the submit reply', () => {
  const adapter = job({
    ...common,
    submit: { url: () => 'https://provider.example/images', headers: () => ({ 'x-version': '1' }) },
    rules: [
      { http: 200, path: '/code', equals: 1026, class: 'content_policy' },
      { http: 429, path: '/error/code', equals: 'insufficient_quota', class: 'provider_account' },
      { path: '/refused', equals: true, class: 'content_policy' },
    ],
  });

  it('is returned as the outcome', () => {
    const answer = reply(200, '{"data" : [1.0]}', { 'content-type': 'application/json; charset=utf-8' });
    expect(adapter.onSubmit(run, answer)).toEqual({
      kind: 'succeeded',
      output: { mediaType: 'application/json; charset=utf-8', body: answer.body },
    });
    expect(Object.keys(adapter)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/resume|cancel/i)]),
    );
  });

  it('sends declared headers and mints the credential from secret and clock', () => {
    const call = adapter.submit(run);
    expect(call.headers).toMatchObject({ 'x-version': '1', 'content-type': 'application/json' });
    expect(call.body).toBe(run.body);
    expect(adapter.credential(call, 's', 5)).toEqual({ authorization: 'Bearer s.5' });
  });

  it('makes another call for an input with a certain member, if the model has a URL for it', () => {
    const adapter = job({
      ...common,
      submit: {
        variant: {
          contains: ['image'],
          url: ({ upstream }) => upstream['edits'],
          encode: () => ({ contentType: 'text/plain', body: new Uint8Array() }),
        },
      },
      rules: [],
    });
    const sent = (body: string, upstream: Run['upstream']) => {
      const call = adapter.submit({ ...run, upstream, body: new TextEncoder().encode(body) });
      return `${call.headers?.['content-type']} to ${call.url}`;
    };
    const edits = { path: 'draw', edits: 'https://provider.example/edits' };
    expect(sent('{"image":"u"}', edits)).toBe('text/plain to https://provider.example/edits');
    expect(sent('{"image":null}', edits)).toBe('application/json to https://provider.example/draw');
    expect(sent('{"deep":{"image":"u"}}', edits)).toBe('application/json to https://provider.example/draw');
    expect(sent('{"image":"u"}', { path: 'draw' })).toBe('application/json to https://provider.example/draw');
  });

  it('keeps the error about an input for clients of the provider, without links, ids and words about our account', () => {
    const error = {
      message: 'Too long, see https://provider.example/x',
      code: 'too_long',
      request_id: 'req_1a',
    };
    expect(adapter.onSubmit(run, reply(400, { error, owner: 'The organization acme.' }))).toMatchObject({
      failure: {
        class: 'rejected_input',
        reply: {
          status: 400,
          body: {
            error: {
              message: 'Too long, see (link)',
              code: 'too_long',
              request_id: expect.not.stringContaining('req_'),
            },
            owner: expect.not.stringContaining('acme'),
          },
        },
      },
    });
    const ours =
      'projects/my-1/x by router@my-1.iam.gserviceaccount.com of org-AbCdEf123 with sk-proj-AbCdEf123';
    expect(JSON.stringify(adapter.onSubmit(run, reply(400, { error: { message: ours } })))).not.toMatch(
      /my-1|AbCdEf123/,
    );
    const large = { error: { message: 'x'.repeat(100_000), details: Array(100).fill('y'.repeat(1000)) } };
    expect(adapter.onSubmit(run, reply(400, large))).not.toHaveProperty('failure.reply.body');
    expect(adapter.onSubmit(run, reply(413, '<html>'))).not.toHaveProperty('failure.reply.status');
    for (const [status, body] of [
      [429, { error: { code: 'insufficient_quota' } }],
      [402, { error: { code: 'x' } }],
      [500, { error: { code: 'x' } }],
    ] as const)
      expect(adapter.onSubmit(run, reply(status, body))).not.toHaveProperty('failure.reply.body');
  });

  it.each([
    [200, { code: 1026 }, 'content_policy'],
    [200, { refused: true }, 'content_policy'],
    [429, { error: { code: 'insufficient_quota' } }, 'provider_account'],
  ])('reads HTTP %i %j by rule as %s', (status, body, failureClass) => {
    expect(adapter.onSubmit(run, reply(status, body))).toMatchObject({
      kind: 'failed',
      failure: { class: failureClass, retry: 'never' },
    });
  });

  it('reads other replies by status', () => {
    expect(adapter.onSubmit(run, reply(429, { error: { code: 'rate_limit' } }))).toMatchObject({
      failure: { class: 'provider_unavailable', retry: 'new_submit' },
    });
    expect(adapter.onSubmit(run, reply(200, ''))).toMatchObject({ failure: { class: 'unreadable' } });
  });
});

describe('an operation polled by POST', () => {
  const adapter = job({
    ...common,
    submit: { url: () => 'https://provider.example/start' },
    handle: { name: { path: '/name' } },
    poll: {
      call: ({ name }) => ({
        method: 'POST',
        url: 'https://provider.example/operation',
        body: new TextEncoder().encode(JSON.stringify({ operationName: name })),
      }),
      status: '/done',
      statuses: { true: 'succeeded', dead: 'failed', stopped: 'canceled' },
      everyMs: 10_000,
    },
    resultPaths: ['/response'],
    rules: [
      { path: '/error/code', equals: 3, class: 'rejected_input' },
      { path: '/error/code', equals: 16, class: 'provider_account', retry: 'same_call' },
      { path: '/error/code', equals: 5, class: 'provider_failed', retry: 'capped' },
    ],
  });
  const handle = { v: 1, step: 'poll' as const, name: 'operations/7' };
  const poll = (body: unknown) => adapter.onResume?.(handle, reply(200, body));
  const submit = (code: number) => adapter.onSubmit(run, reply(400, { error: { code } }));

  it('carries the handle in the body', () => {
    expect(adapter.onSubmit(run, reply(200, { name: 'operations/7' }))).toEqual({
      kind: 'pending',
      handle,
      afterMs: 10_000,
    });
    const call = adapter.resume?.(handle);
    expect(new TextDecoder().decode(call?.body)).toBe('{"operationName":"operations/7"}');
  });

  it.each([
    ['{"name":42}', '42'],
    ['{"name":9223372036854775807}', '9223372036854775807'],
    [
      '{"note":"\\"name\\":1","cost":9223372036854775806,\n "name" : 9223372036854775805 }',
      '9223372036854775805',
    ],
    ['{"name":1,"name":-9223372036854775807}', '-9223372036854775807'],
    ['{"name":1.5}', '1.5'],
    ['{"name":1e20}', '100000000000000000000'],
  ])('keeps the original digits of a number: %s', (body, name) => {
    expect(adapter.onSubmit(run, reply(200, body))).toMatchObject({ handle: { name } });
  });

  it('reads a boolean, a missing and a nested status', () => {
    expect(poll({ done: false })).toMatchObject({ kind: 'pending', handle });
    expect(poll({})).toMatchObject({ kind: 'pending', handle });
    expect(poll({ done: { deep: true } })).toMatchObject({ kind: 'pending', handle });
    expect(poll({ done: 'constructor' })).toMatchObject({ kind: 'pending', handle });
    expect(poll({ done: true, response: [0] })).toEqual({ kind: 'succeeded', output: expect.anything() });
    expect(poll({ done: true })).toMatchObject({ kind: 'succeeded', lacksFiles: true });
    expect(poll({ done: true, error: { code: 3 } })).toMatchObject({ failure: { class: 'rejected_input' } });
    expect(poll({ done: 'dead' })).toMatchObject({ failure: { class: 'provider_failed', retry: 'never' } });
    expect(poll({ done: 'stopped' })).toEqual({ kind: 'canceled' });
  });

  it('repeats the call if a rule says so, but never a submission', () => {
    expect(poll({ error: { code: 16 } })).toMatchObject({ failure: { retry: 'same_call' } });
    expect(submit(16)).toMatchObject({ failure: { class: 'provider_account', retry: 'never' } });
    expect(poll({ error: { code: 5 } })).toMatchObject({ failure: { retry: 'same_call', capped: true } });
    expect(submit(5)).not.toHaveProperty('failure.capped');
  });

  it('rejects a handle of another version', () => {
    expect(() => adapter.resume?.({ ...handle, v: 2 })).toThrow('handle version 2 is not 1');
  });

  it('counts a rejected address as a failure that eventually ends the run', () => {
    expect(adapter.onResume?.(handle, { fault: 'not_sent', cause: 'refused_address' })).toMatchObject({
      failure: { class: 'provider_failed', retry: 'same_call', capped: true },
    });
  });
});

const get = () => ({ method: 'GET' as const, url: 'https://provider.example/7' });

describe('a provider that needs a unique header in every call', () => {
  const adapter = job({
    ...common,
    uniqueHeader: 'x-trace-id',
    submit: { url: () => 'https://provider.example/start' },
    handle: { id: { path: '/id' }, file: { path: '/file', polled: true } },
    poll: { call: get, status: '/status', statuses: { ok: 'succeeded' }, everyMs: 1000 },
    fetch: { call: get },
    cancel: { call: get, replies: [] },
    rules: [],
  });

  it('gets the header in each call', () => {
    const handle = { v: 1, step: 'poll' as const, id: '7' };
    const calls = [
      adapter.submit(run),
      adapter.resume?.(handle),
      adapter.resume?.({ ...handle, step: 'fetch' }),
      adapter.cancel?.(handle),
    ];
    expect(calls.map((call) => call?.uniqueHeader)).toEqual(calls.map(() => 'x-trace-id'));
  });
});
