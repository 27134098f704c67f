import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buckets } from '../../errors/src/index.js';
import { bucketNames, type CallOptions, createRouter, type Router, type RunHandle } from './index.js';

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Respond = (response: ServerResponse, seen: Seen) => void;

let server: Server;
let router: Router;
let seen: Seen[];
/** Responses to the requests, in order. The last one also answers all further requests. */
let script: Respond[];

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const call = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(call);
      const [respond] = script.length > 1 ? script.splice(0, 1) : script;
      respond?.(response, call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  router = createRouter({ key: 'rk_test', baseUrl: `http://127.0.0.1:${port}/` });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const refused = (status: number, bucket: string, headers: Record<string, string> = {}): Respond =>
  json(status, { detail: 'No.', error_type: bucket }, { 'x-service-error-type': bucket, ...headers });
const lost: Respond = (response) => response.destroy();

const stateOf = (status: string) => ({
  request_id: 'r',
  status,
  status_url: 'https://elsewhere.example.com/v2/models/a/b/requests/r/status',
  response_url: 'https://elsewhere.example.com/v2/models/a/b/requests/r',
  cancel_url: 'https://elsewhere.example.com/v2/models/a/b/requests/r/cancel',
});
const run = stateOf('IN_QUEUE') as RunHandle;
const streamed =
  (text: string): Respond =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
const event = (body: object, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(body)}\n\n`;
const statesOf = async () => {
  const states = [];
  for await (const { status, progress } of router.subscribe(run)) states.push(progress ?? status);
  return states;
};

describe('a request is retried', () => {
  it.each([
    ['the connection was lost', lost],
    ['the router is down', refused(503, 'service_unavailable')],
    ['the run is still in progress', refused(504, 'deadline_exceeded', { 'retry-after': '0' })],
    ['the workspace is at its limit', refused(429, 'concurrency_limit_exceeded')],
  ])('with the same key if %s', async (_why, first) => {
    script = [first, json(200, { done: true })];
    await expect(router.run('a/b', { prompt: 'x' })).resolves.toMatchObject({ output: { done: true } });
    expect(seen).toHaveLength(2);
    expect(seen[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(seen[1]).toMatchObject({
      body: '{"prompt":"x"}',
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
    script = [goesOn, goesOn, lost, goesOn, goesOn, lost, json(200, { done: true })];
    await expect(router.run('a/b', {})).resolves.toMatchObject({ output: { done: true } });
    expect(seen).toHaveLength(7);
  });

  it('never if the error is the outcome of the run', async () => {
    script = [
      refused(503, 'service_unavailable'),
      json(200, { ...stateOf('COMPLETED'), error_type: 'service_unavailable' }),
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
    script = [(response) => response.writeHead(308, { location: 'https://new.example.com/' }).end()];
    const message = expect.stringContaining('https://new.example.com/');
    await expect(router.run('a/b', {})).rejects.toMatchObject({ status: 308, message });
    expect(seen).toHaveLength(1);
  });
});

const silent: Respond = () => {};
const stalled =
  (contentType: string): Respond =>
  (response) =>
    void response.writeHead(200, { 'content-type': contentType }).write('{"a":');
describe('the end of a call', () => {
  const acts: [string, Respond, (options: CallOptions) => Promise<unknown>][] = [
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
    script = [json(200, stateOf('COMPLETED'))];
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
    expect(seen.map(({ url }) => url)).toEqual(['/v2/models/a/b/requests/r/status/stream']);
  });

  it('are polled if the stream is not available', async () => {
    script = [
      refused(404, 'invalid_input'),
      json(200, stateOf('IN_PROGRESS')),
      json(200, stateOf('COMPLETED')),
    ];
    expect(await statesOf()).toEqual(['IN_PROGRESS', 'COMPLETED']);
    expect(seen.map(({ url }) => url.replace(/.*requests\/r/, ''))).toEqual([
      '/status/stream',
      '/status',
      '/status',
    ]);
  });

  it('continue after the stream breaks, without duplicates', async () => {
    script = [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(event(stateOf('IN_QUEUE')), () => response.destroy());
      },
      json(200, stateOf('IN_QUEUE')),
      streamed(event(stateOf('IN_QUEUE')) + event(stateOf('IN_PROGRESS')) + event(stateOf('COMPLETED'))),
    ];
    expect(await statesOf()).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
  });
});

describe('the credential', () => {
  it('is sent only to the router, whatever URLs a run contains', async () => {
    script = [json(200, stateOf('COMPLETED'))];
    await router.status(run);
    expect(seen[0]).toMatchObject({
      url: '/v2/models/a/b/requests/r/status',
      headers: { 'x-api-key': 'rk_test' },
    });
  });

  it('is a key or a token', async () => {
    script = [json(202, { request_id: 'r', status: 'CANCELLATION_REQUESTED' })];
    const { baseUrl } = { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    await createRouter({ token: 'eyJ', baseUrl }).cancel(run);
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer eyJ' });
    expect(() => createRouter({ baseUrl })).toThrow('Pass either a key or a token.');
    expect(() => createRouter({ baseUrl: undefined, key: 'k' })).toThrow('baseUrl must start with');
  });
});

it('uploads each file in an input once, and sends its URL', async () => {
  const mask = Buffer.from('mask');
  script = [
    (response, call) => {
      if (call.url !== '/v2/files') return json(201, stateOf('IN_QUEUE'))(response, call);
      json(201, { url: `https://files.example.com/${call.body}` })(response, call);
    },
  ];
  const image = new File(['image'], 'a.png', { type: 'image/png' });
  await router.submit('a/b', { image, more: [mask, mask, 'https://x.example.com'], depth: { image } });
  expect(seen.slice(0, 2).map(({ headers, body }) => [headers['content-type'], body])).toEqual([
    ['image/png', 'image'],
    ['application/octet-stream', 'mask'],
  ]);
  expect(JSON.parse(seen[2]?.body ?? '')).toEqual({
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
  script = [(response, call) => json(201, { url: call.url, ...stateOf('IN_QUEUE') })(response, call)];
  await router.submit('a/b', new Input());
  const [url, at] = ['/v2/files', '1970-01-01T00:00:00.000Z'];
  expect(JSON.parse(seen[2]?.body ?? '')).toEqual({ image: url, at, depth: { mask: url } });
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
