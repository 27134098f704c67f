import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRouter, type Router, RouterError } from './index.js';

type Respond = (response: ServerResponse) => void;

const model = 'openai/gpt-5';
const cancelUrl = `/v2/models/${model}/requests/run-1/cancel`;
const streaming = { 'content-type': 'text/event-stream', 'x-service-run-id': 'run-1' };

let server: Server;
let router: Router;
let seen: { url: string; headers: IncomingMessage['headers']; body: string }[];
/** Responses to the runs, in order. */
let script: Respond[];

beforeEach(async () => {
  [seen, script] = [[], []];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers } = request;
      seen.push({ url, headers, body: Buffer.concat(chunks).toString() });
      server.emit('seen', url);
      if (url === cancelUrl) response.writeHead(202).end('{"status":"CANCELLATION_REQUESTED"}');
      else script.shift()?.(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  router = createRouter({ key: 'rk_test', baseUrl: `http://127.0.0.1:${port}` });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The error of a run that fails after the provider's own events. */
const failed = 'event: error\ndata: {"detail":"It failed.","error_type":"provider_error"}\n\n';

const all = async (...call: Parameters<Router['stream']>) => {
  const data = [];
  for await (const event of router.stream(...call)) data.push(event.data);
  return data;
};
const failure = (act: Promise<unknown>): Promise<RouterError> =>
  act.then(
    () => Promise.reject(new Error('expected a failure')),
    (error: unknown) => error as RouterError,
  );

describe('a stream', () => {
  it('ends as the error of its run, after every event of the provider', async () => {
    const theirs = 'event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n';
    script = [(response) => response.writeHead(200, streaming).end(`data: 1\n\n${theirs}\n\n${failed}`)];
    const events: string[] = [];
    const error = await failure(
      (async () => {
        for await (const { event } of router.stream(model, {}, { idempotencyKey: 'k' })) events.push(event);
      })(),
    );
    expect(events).toEqual(['message', 'error']);
    expect(error).toMatchObject({
      bucket: 'provider_error',
      message: 'It failed.',
      runId: 'run-1',
      idempotencyKey: 'k',
    });
    expect(seen).toHaveLength(1);
  });

  it('yields each event before the next one is sent', async () => {
    let sendNext: (() => void) | undefined;
    script = [
      (response) => {
        response.writeHead(200, streaming).write('event: delta\ndata: {"text":"a"}\n\n');
        sendNext = () => response.end('data: [DONE]\n\n');
      },
    ];
    const events = [];
    for await (const event of router.stream(model, { input: 'hello' })) {
      events.push(event);
      sendNext?.();
    }
    expect(events).toEqual([
      { event: 'delta', data: '{"text":"a"}', id: undefined },
      { event: 'message', data: '[DONE]', id: undefined },
    ]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ url: `/v2/models/${model}`, body: '{"input":"hello","stream":true}' });
  });

  it('sends a string byte for byte, and adds extra fields to an object', async () => {
    script = [1, 2].map(() => (response) => response.writeHead(200, streaming).end('data: a\n\n'));
    await all(model, '{ "stream":true }');
    await all(model, { input: 'hello' }, { extra: { reasoning: { effort: 'low' } } });
    expect(seen.map(({ body }) => body)).toEqual([
      '{ "stream":true }',
      '{"input":"hello","stream":true,"reasoning":{"effort":"low"}}',
    ]);
  });

  it('is requested by the query from models whose input has no member for it', async () => {
    script = [(response) => response.writeHead(200, streaming).end('data: a\n\n')];
    await all('vertexai/gemini-2.5-flash', { contents: [{ parts: [{ text: 'hello' }] }] });
    expect(seen[0]).toMatchObject({
      url: '/v2/models/vertexai/gemini-2.5-flash?alt=sse',
      body: '{"contents":[{"parts":[{"text":"hello"}]}]}',
    });
  });

  it('is requested again with the same key until its answer begins', async () => {
    script = [
      (response) => response.destroy(),
      (response) => response.writeHead(200, streaming).end('data: a\n\n'),
    ];
    expect(await all(model, {})).toEqual(['a']);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('throws the error of an answer that is none', async () => {
    const headers = { 'content-type': 'application/json', 'x-service-error-type': 'invalid_input' };
    script = [(response) => response.writeHead(422, headers).end('{"detail":"No."}')];
    expect(await failure(all(model, {}))).toMatchObject({ bucket: 'invalid_input', message: 'No.' });
  });

  it('yields the output of a model that answers whole as one event', async () => {
    const headers = { 'content-type': 'application/json' };
    script = [(response) => response.writeHead(200, headers).end('{"text":"whole"}')];
    expect(await all(model, {})).toEqual(['{"text":"whole"}']);
  });

  it('that breaks off throws the ids that collect the run, and does not cancel it', async () => {
    script = [
      (response) => void response.writeHead(200, streaming).write('data: a\n\n', () => response.destroy()),
    ];
    const error = await failure(all(model, {}));
    expect(error).toBeInstanceOf(RouterError);
    expect(error).toMatchObject({ bucket: 'service_unavailable', runId: 'run-1' });
    expect(error.idempotencyKey).toBe(seen[0]?.headers['idempotency-key']);
    expect(error.cause).toHaveProperty('message');
    expect(seen).toHaveLength(1);
  });
});

describe('leaving a stream', () => {
  let closed: Promise<unknown>;
  beforeEach(() => {
    script = [
      (response) => {
        closed = once(response, 'close');
        response.writeHead(200, streaming).write('data: a\n\n');
      },
    ];
  });

  it('ends the request and cancels the run', async () => {
    const cancelled = new Promise<void>((resolve) =>
      server.on('seen', (url) => url === cancelUrl && resolve()),
    );
    for await (const { data } of router.stream(model, {})) if (data === 'a') break;
    await closed;
    await cancelled;
  });

  it('by the signal throws its reason, ends the request and cancels the run', async () => {
    const cancelled = new Promise<void>((resolve) =>
      server.on('seen', (url) => url === cancelUrl && resolve()),
    );
    const leaving = new AbortController();
    const events = router.stream(model, {}, { signal: leaving.signal });
    await events.next();
    leaving.abort(new Error('enough'));
    await expect(events.next()).rejects.toThrow('enough');
    await closed;
    await cancelled;
  });

  it('with a key of the caller’s own only ends the request', async () => {
    for await (const _event of router.stream(model, {}, { idempotencyKey: 'mine' })) break;
    await closed;
    expect(seen.map(({ url }) => url)).toEqual([`/v2/models/${model}`]);
  });

  it('at its time limit throws the key that collects the run, and does not cancel it', async () => {
    const events = router.stream(model, {}, { timeoutMs: 300 });
    await events.next();
    expect(await failure(events.next())).toMatchObject({
      bucket: 'deadline_exceeded',
      runId: 'run-1',
      idempotencyKey: seen[0]?.headers['idempotency-key'],
    });
    await closed;
    expect(seen).toHaveLength(1);
  });
});
