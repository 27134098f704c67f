import { describe, expect, it } from '@jest/globals';
import { createRouter } from './index.js';

/** A client that gets this response to every request, and a count of its requests. */
function answered(status: number, body: string, headers: Record<string, string>) {
  let calls = 0;
  const fetch = async () => {
    calls += 1;
    return new Response(body, { status, headers });
  };
  return { router: createRouter({ key: 'rk_test', baseUrl: 'http://127.0.0.1', fetch }), calls: () => calls };
}

it.each(['2147484', '9'.repeat(20), '-5', '0', '0.001'])(
  'waits at least 375 ms before a retry, and never retries after the time limit, with Retry-After %s',
  async (retryAfter) => {
    const headers = { 'x-service-error-type': 'deadline_exceeded', 'retry-after': retryAfter };
    const { router, calls } = answered(504, '{}', headers);
    await expect(router.run('a/b', {}, { timeoutMs: 300 })).rejects.toMatchObject({
      bucket: 'deadline_exceeded',
      status: 0,
    });
    expect(calls()).toBe(1);
  },
);

async function outputOf(contentType: string) {
  const { router } = answered(200, '{"a":1}', { 'content-type': contentType });
  return (await router.run('a/b', {})).output;
}

describe('an output', () => {
  it.each([
    'Application/JSON',
    'application/json ;charset=utf-8',
    'text/json',
    'application/problem+JSON; a="b,c"',
  ])('of %s is JSON', async (contentType) => {
    expect(await outputOf(contentType)).toEqual({ a: 1 });
  });

  it.each(['application/json-seq', 'text/plain; a=application/json', ''])(
    'of %j is bytes',
    async (contentType) => {
      expect(await outputOf(contentType)).toBeInstanceOf(Blob);
    },
  );
});

it('recognizes a stream of states whatever the case of its media type', async () => {
  const state = { request_id: 'r', status: 'COMPLETED' };
  const headers = { 'content-type': 'Text/Event-Stream ;charset=utf-8' };
  const { router, calls } = answered(200, `data: ${JSON.stringify(state)}\n\n`, headers);
  const run = { request_id: 'r', status_url: '/s', response_url: '/r', cancel_url: '/c' };
  const states = [];
  for await (const { status } of router.subscribe(run)) states.push(status);
  expect([states, calls()]).toEqual([['COMPLETED'], 1]);
});
