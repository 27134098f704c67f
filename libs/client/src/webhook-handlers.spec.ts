import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Module, Post, Req, Res, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Hono } from 'hono';
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { nodeWebhookHandler, webhookHandler, type WebhookEvent, type WebhookSecret } from './index.js';

type Middleware = (...parts: never[]) => unknown;
type Express = RequestListener & {
  post: (path: string, ...handlers: Middleware[]) => void;
  use: (one: Middleware) => void;
};
type ExpressModule = (() => Express) & Record<'json' | 'raw' | 'text', (options?: object) => Middleware>;
// Express has no types of its own.
const express = createRequire(import.meta.url)('express') as ExpressModule;

const secret = `whsec_${randomBytes(24).toString('base64')}`;
/** The order of members and the spaces are lost by parsing, so only the raw body has a valid signature. */
const body = '{ "type":"run.completed", "timestamp":"2026-11-23T00:00:00Z", "data":{"request_id":"ré"} }';

function signed(by = secret): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const code = createHmac('sha256', Buffer.from(by.replace('whsec_', ''), 'base64'))
    .update(`msg_1.${timestamp}.${body}`)
    .digest('base64');
  const webhook = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${code}`,
  };
  return { 'content-type': 'application/json', ...webhook };
}

let received: WebhookEvent[] = [];
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  received = [];
  for (const close of opened.splice(0)) await close();
});
const take = (event: WebhookEvent) => void received.push(event);
const broken = () => {
  throw new Error('the database is down');
};

/** The address of a server with a handler for webhooks. */
type Serve = (given: WebhookSecret, onEvent: (event: WebhookEvent) => unknown) => Promise<string>;

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** A Node server for a web handler, as the adapters of Next and Hono have it. */
const web = (handle: (request: Request) => Response | Promise<Response>) =>
  listening((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const web = new Request('http://a.example.com/hook', {
        method: 'POST',
        headers,
        body: Buffer.concat(chunks),
      });
      void Promise.resolve(web)
        .then(handle)
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        // As Next does.
        .catch(() => response.writeHead(500).end());
    });
  });

const inExpress =
  (...before: Middleware[]): Serve =>
  (given, onEvent) => {
    const app = express();
    for (const each of before) app.use(each);
    app.post('/hook', nodeWebhookHandler(given, onEvent));
    // Express prints errors unless a handler takes them.
    app.use(
      (
        _error: unknown,
        _request: unknown,
        response: { sendStatus: (status: number) => void },
        _next: unknown,
      ) => response.sendStatus(500),
    );
    return listening(app);
  };

const inNest: Serve = async (given, onEvent) => {
  const handle = nodeWebhookHandler(given, onEvent);
  class HookController {
    hook(request: Parameters<typeof handle>[0], reply: Parameters<typeof handle>[1]) {
      return handle(request, reply);
    }
  }
  Controller()(HookController);
  Post('hook')(
    HookController.prototype,
    'hook',
    Object.getOwnPropertyDescriptor(HookController.prototype, 'hook') ?? {},
  );
  Req()(HookController.prototype, 'hook', 0);
  Res()(HookController.prototype, 'hook', 1);
  class HookModule {}
  Module({ controllers: [HookController as Type] })(HookModule);
  const app = await NestFactory.create(HookModule, new FastifyAdapter(), { rawBody: true, logger: false });
  opened.push(() => app.close());
  await app.listen(0, '127.0.0.1');
  return `${await app.getUrl()}/hook`;
};

const frameworks: [name: string, serve: Serve][] = [
  [
    'Node',
    (given, onEvent) => {
      const handle = nodeWebhookHandler(given, onEvent);
      return listening(
        (request, response) => void handle(request, response).catch(() => response.writeHead(500).end()),
      );
    },
  ],
  ['Express', inExpress()],
  ['Express with express.raw', inExpress(express.raw({ type: '*/*' }))],
  ['Express with express.text', inExpress(express.text({ type: '*/*' }))],
  ['Nest', inNest],
  [
    'Hono',
    (given, onEvent) => {
      const app = new Hono();
      const handle = webhookHandler(given, onEvent);
      app.post('/hook', (context) => handle(context.req.raw));
      app.onError((_error, context) => context.text('', 500));
      return web((request) => app.fetch(request));
    },
  ],
  ['a route of Next', (given, onEvent) => web(webhookHandler(given, onEvent))],
];

const post = (url: string, headers: Record<string, string>, text = body) =>
  fetch(url, { method: 'POST', headers, body: text });

describe.each(frameworks)('a webhook handler in %s', (_name, serve) => {
  it('passes an event on and answers 204', async () => {
    const answer = await post(await serve(secret, take), signed());
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(received).toEqual([JSON.parse(body)]);
  });

  it('answers 400 to what the router did not send', async () => {
    const url = await serve(secret, take);
    const answers = [
      await post(url, signed('whsec_AAAA')),
      await post(url, signed(), body.replace('ré', 're')),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(received).toEqual([]);
  });

  it('leaves the framework to answer an error of the application, so that the router tries again', async () => {
    expect((await post(await serve(secret, broken), signed())).status).toBe(500);
  });

  it('takes both secrets of a rotation from a function', async () => {
    const url = await serve(async () => ['whsec_AAAA', secret], take);
    expect((await post(url, signed())).status).toBe(204);
  });
});

it('says that a parser came first in Express', async () => {
  const errors: unknown[] = [];
  const app = express();
  app.use(express.json());
  app.post('/hook', nodeWebhookHandler(secret, take));
  app.use(
    (
      error: unknown,
      _request: unknown,
      response: { sendStatus: (status: number) => void },
      _next: unknown,
    ) => {
      errors.push(error);
      response.sendStatus(500);
    },
  );
  expect((await post(await listening(app), signed())).status).toBe(500);
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('raw body') })]);
});

it('says that a web request was read before', async () => {
  const request = new Request('http://a.example.com', { method: 'POST', headers: signed(), body });
  await request.json();
  await expect(webhookHandler(secret, take)(request)).rejects.toThrow('raw body');
});

it('answers 413 to a body that is too large for a webhook', async () => {
  const text = 'x'.repeat(9 * 1024 * 1024);
  const request = new Request('http://a.example.com', { method: 'POST', headers: signed(), body: text });
  expect((await webhookHandler(secret, take)(request)).status).toBe(413);
});
