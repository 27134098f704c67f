import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buckets } from '../../errors/src/index.js';
import {
  content,
  json,
  type ReceivedCall,
  redirect,
  type Reply,
  reset,
  ScriptedServer,
} from '../../../test/harness/scripted-server.js';
import { bucketNames, type CallOptions, createRouter, type Router, type RunHandle } from './index.js';

let server: ScriptedServer;
let router: Router;
let seen: ReceivedCall[];
/** Replies to the requests, in order. The last one also answers all further requests. */
let script: Reply[];

beforeEach(async () => {
  server = await ScriptedServer.start((...call) => {
    const [reply] = script.length > 1 ? script.splice(0, 1) : script;
    return reply?.(...call);
  });
  seen = server.calls;
  router = createRouter({ key: 'rk_test', baseUrl: `${server.url}/` });
});
afterEach(() => server.stop());

const refused = (status: number, bucket: string, headers: Record<string, string> = {}): Reply =>
  json({ detail: 'No.', error_type: bucket }, status, { 'x-service-error-type': bucket, ...headers });

const stateOf = (status: string) => ({
  request_id: 'r',
  status,
  status_url: 'https://elsewhere.example.com/v2/models/a/b/requests/r/status',
  response_url: 'https://elsewhere.example.com/v2/models/a/b/requests/r',
  cancel_url: 'https://elsewhere.example.com/v2/models/a/b/requests/r/cancel',
});
const run = stateOf('IN_QUEUE') as RunHandle;
const streamed = (text: string) => content('text/event-stream', text);
const event = (body: object, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(body)}\n\n`;
const statesOf = async () => {
  const states = [];
  for await (const { status, progress } of router.subscribe(run)) states.push(progress ?? status);
  return states;
};

describe('a request is retried', () => {
  it.each([
    ['the connection was lost', reset],
    ['the router is down', refused(503, 'service_unavailable')],
    ['the run is still in progress', refused(504, 'deadline_exceeded', { 'retry-after': '0' })],
    ['the workspace is at its limit', refused(429, 'concurrency_limit_exceeded')],
  ])('with the same key if %s', async (_why, first) => {
    script = [first, json({ done: true })];
    await expect(router.run('a/b', { prompt: 'x' })).resolves.toMatchObject({ output: { done: true } });
    expect(seen).toHaveLength(2);
    expect(seen[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(seen[1]).toMatchObject({
      text: '{"prompt":"x"}',
      headers: { 'idempotency-key': seen[0]?.headers['idempotency-key'] },
    });
  });

  it.each([
    ['invalid_input', 422],
    ['provider_error', 502],
    ['provider_timeout', 504],
    ['internal_error', 500],
    ['insufficient_credits', 402],
    ['rate_limited', 429],
    ['not_enabled', 403],
  ])('never after %s', async (bucket, status) => {
    script = [refused(status, bucket)];
    await expect(router.run('a/b', {})).rejects.toMatchObject({ bucket, status, message: 'No.' });
    expect(seen).toHaveLength(1);
  });

  it('never if the run alone exceeds the committed spend limit', async () => {
    const headers = { 'x-committed-spend-limit': '100', 'x-committed-spend-current': '0' };
    script = [refused(429, 'concurrency_limit_exceeded', headers)];
    await expect(router.run('a/b', {})).rejects.toMatchObject({
      committedSpendCents: { limit: 100, current: 0 },
    });
    expect(seen).toHaveLength(1);
  });

  it('up to five consecutive times without an answer, regardless of earlier answers', async () => {
    const goesOn = refused(504, 'deadline_exceeded', { 'retry-after': '0' });
    script = [goesOn, goesOn, reset, goesOn, goesOn, reset, json({ done: true })];
    await expect(router.run('a/b', {})).resolves.toMatchObject({ output: { done: true } });
    expect(seen).toHaveLength(7);
  });

  it('never if the error is the outcome of the run', async () => {
    script = [
      refused(503, 'service_unavailable'),
      json({ ...stateOf('COMPLETED'), error_type: 'service_unavailable' }),
      refused(500, 'internal_error'),
    ];
    await expect(router.collect(run)).rejects.toMatchObject({ status: 503, bucket: 'service_unavailable' });
  });
});

describe('throws a configuration error at once:', () => {
  it('a key that is not a valid header value', async () => {
    await expect(router.run('a/b', {}, { idempotencyKey: 'order—1' })).rejects.toMatchObject({
      name: 'TypeError',
    });
    expect(seen).toHaveLength(0);
  });

  it('a base URL without a scheme', () => {
    expect(() => createRouter({ key: 'rk_test', baseUrl: 'localhost:8080' })).toThrow('https://');
  });

  it('a base URL that redirects, without following it', async () => {
    script = [redirect('https://new.example.com/', 308)];
    const message = expect.stringContaining('https://new.example.com/');
    await expect(router.run('a/b', {})).rejects.toMatchObject({ status: 308, message });
    expect(seen).toHaveLength(1);
  });
});

const silent: Reply = () => {};
const stalled =
  (contentType: string): Reply =>
  (_call, response) =>
    void response.writeHead(200, { 'content-type': contentType }).write('{"a":');
describe('the end of a call', () => {
  const acts: [string, Reply, (options: CallOptions) => Promise<unknown>][] = [
    ['before the response', silent, (options) => router.status(run, options)],
    ['in the response body', stalled('application/json'), (options) => router.run('a/b', {}, options)],
    [
      'in a stream of states',
      stalled('text/event-stream'),
      (options) => router.subscribe(run, options).next(),
    ],
  ];

  describe.each(acts)('survives garbage collections, %s:', (_when, respond, act) => {
    let collecting: NodeJS.Timeout;
    beforeEach(() => {
      script = [respond];
      setFlagsFromString('--expose-gc');
      // The test doesn't wait for this timer; it only collects garbage in the background.
      // oxlint-disable-next-line no-restricted-globals
      collecting = setInterval(runInNewContext('gc') as () => void, 50);
    });
    afterEach(() => clearInterval(collecting));

    it('by its time limit', async () => {
      await expect(act({ timeoutMs: 500 })).rejects.toMatchObject({ bucket: 'deadline_exceeded' });
    });
    it('by the caller’s signal', async () => {
      await expect(act({ signal: AbortSignal.timeout(500) })).rejects.toMatchObject({ name: 'TimeoutError' });
    });
  });

  it.each([2 ** 31, Infinity])('may be %s ms away', async (timeoutMs) => {
    script = [json(stateOf('COMPLETED'))];
    await expect(router.status(run, { timeoutMs })).resolves.toMatchObject({ status: 'COMPLETED' });
  });
});

describe('states', () => {
  it('are streamed, with progress', async () => {
    script = [
      streamed(
        `: hello\n\n${event(stateOf('IN_QUEUE'))}${event({ progress: 0.5 }, 'progress')}${event(stateOf('COMPLETED'))}`,
      ),
    ];
    expect(await statesOf()).toEqual(['IN_QUEUE', 0.5, 'COMPLETED']);
    expect(seen.map(({ path }) => path)).toEqual(['/v2/models/a/b/requests/r/status/stream']);
  });

  it('are polled if the stream is not available', async () => {
    script = [refused(404, 'invalid_input'), json(stateOf('IN_PROGRESS')), json(stateOf('COMPLETED'))];
    expect(await statesOf()).toEqual(['IN_PROGRESS', 'COMPLETED']);
    expect(seen.map(({ path }) => path.replace(/.*requests\/r/, ''))).toEqual([
      '/status/stream',
      '/status',
      '/status',
    ]);
  });

  it('continue after the stream breaks, without duplicates', async () => {
    script = [
      (_call, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(event(stateOf('IN_QUEUE')), () => response.destroy());
      },
      json(stateOf('IN_QUEUE')),
      streamed(event(stateOf('IN_QUEUE')) + event(stateOf('IN_PROGRESS')) + event(stateOf('COMPLETED'))),
    ];
    expect(await statesOf()).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
  });
});

describe('the credential', () => {
  it('is sent only to the router, whatever URLs a run contains', async () => {
    script = [json(stateOf('COMPLETED'))];
    await router.status(run);
    expect(seen[0]).toMatchObject({
      path: '/v2/models/a/b/requests/r/status',
      headers: { 'x-api-key': 'rk_test' },
    });
  });

  it('is a key or a token', async () => {
    script = [json({ request_id: 'r', status: 'CANCELLATION_REQUESTED' }, 202)];
    const { url: baseUrl } = server;
    await createRouter({ token: 'eyJ', baseUrl }).cancel(run);
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer eyJ' });
    expect(() => createRouter({ baseUrl })).toThrow('Pass either a key or a token.');
    expect(() => createRouter({ baseUrl: undefined, key: 'k' })).toThrow('baseUrl must start with');
  });
});

it('uploads each file in an input once, and sends its URL', async () => {
  const mask = Buffer.from('mask');
  script = [
    (...call) => {
      const [{ path, text }] = call;
      if (path !== '/v2/files') return json(stateOf('IN_QUEUE'), 201)(...call);
      return json({ url: `https://files.example.com/${text}` }, 201)(...call);
    },
  ];
  const image = new File(['image'], 'a.png', { type: 'image/png' });
  await router.submit('a/b', { image, more: [mask, mask, 'https://x.example.com'], depth: { image } });
  expect(seen.slice(0, 2).map(({ headers, text }) => [headers['content-type'], text])).toEqual([
    ['image/png', 'image'],
    ['application/octet-stream', 'mask'],
  ]);
  expect(JSON.parse(seen[2]?.text ?? '')).toEqual({
    image: 'https://files.example.com/image',
    more: ['https://files.example.com/mask', 'https://files.example.com/mask', 'https://x.example.com'],
    depth: { image: 'https://files.example.com/image' },
  });
});

it('finds files in any object, except those with a toJSON method', async () => {
  class Input {
    image = new Blob(['image']);
    at = new Date(0);
    depth: object = Object.assign(Object.create(null), { mask: new Uint8Array(1) });
  }
  script = [(...call) => json({ url: call[0].path, ...stateOf('IN_QUEUE') }, 201)(...call)];
  await router.submit('a/b', new Input());
  const [url, at] = ['/v2/files', '1970-01-01T00:00:00.000Z'];
  expect(JSON.parse(seen[2]?.text ?? '')).toEqual({ image: url, at, depth: { mask: url } });
});

it.each([
  ['a stream', new ReadableStream()],
  ['a Node stream', Readable.from([])],
  ['an array of numbers', new Float32Array(1)],
])('rejects %s instead of uploading its string form', async (_what, value) => {
  await expect(router.upload(value as unknown as Blob)).rejects.toThrow(TypeError);
  await expect(router.submit('a/b', { value })).rejects.toThrow(TypeError);
  await expect(router.upload('/etc/hostname' as unknown as Blob)).rejects.toThrow(TypeError);
  expect(seen).toHaveLength(0);
});

it('has the same buckets as the router', () => {
  expect([...bucketNames].sort()).toEqual(Object.keys(buckets).sort());
});
