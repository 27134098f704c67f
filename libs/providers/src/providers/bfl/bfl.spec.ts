import { describe, expect, it } from '@jest/globals';

import type { HttpReply, Outcome } from '../../contract.js';
import { providerOf } from '../../testing/provider-of.js';

const adapter = providerOf('bfl').create('http://127.0.0.1:4010/bfl', {});
const run = { runId: 'r', model: 'bfl/flux-2-pro', upstream: { path: 'flux-2-pro' }, body: new Uint8Array() };
const reply = (body: string): HttpReply => ({
  status: 200,
  headers: {},
  body: new TextEncoder().encode(body),
});

function pollUrl(outcome: Outcome): string | undefined {
  return outcome.kind === 'pending' ? adapter.resume?.(outcome.handle).url : undefined;
}

describe('bfl poll address', () => {
  it.each([
    [
      'the one in the reply',
      '{"id":"a b","polling_url":"http://127.0.0.1:4011/p?id=7"}',
      'http://127.0.0.1:4011/p?id=7',
    ],
    ['built when the reply has none', '{"id":"a b"}', 'http://127.0.0.1:4010/bfl/v1/get_result?id=a%20b'],
    [
      'built from an id beyond 2^53',
      '{"id":9223372036854775807}',
      'http://127.0.0.1:4010/bfl/v1/get_result?id=9223372036854775807',
    ],
  ])('is %s', (_case, body, url) => {
    expect(pollUrl(adapter.onSubmit(run, reply(body)))).toBe(url);
  });

  it('throws for a row without a path', () => {
    expect(() => adapter.submit({ ...run, upstream: {} })).toThrow(
      'model bfl/flux-2-pro has no values for {base}',
    );
  });
});

const read = (status: string) => {
  const outcome = adapter.onResume?.({ v: 1, step: 'poll', id: '1' }, reply(JSON.stringify({ status })));
  return outcome?.kind === 'failed' ? outcome.failure.class : outcome?.kind;
};

describe('bfl status words', () => {
  it.each([
    [' content MODERATED ', 'content_policy'],
    ['task not found', 'provider_failed'],
    ['error', 'provider_failed'],
    ['Reasoning', 'pending'],
  ])('%j counts in any case: %s', (status, outcome) => {
    expect(read(status)).toBe(outcome);
  });
});
