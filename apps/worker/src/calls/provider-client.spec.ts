import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import type { KeyedProvider, HttpReply, Signal } from '#providers';
import { Agent } from 'undici';
import type { Payloads } from '../bytes/payloads.js';
import type { OutboundAgents } from './outbound-agents.js';
import { ProviderClient } from './provider-client.js';

const agent = new Agent();
let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
});

const limit = 100_000;

/** A client for a provider that answers as given. */
async function provider(answer: RequestListener, adapter: object = {}, secret = 'key') {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new ProviderClient(
    { to: async () => agent, trusted: agent } as unknown as OutboundAgents,
    {} as Payloads,
    { PROVIDER_REPLY_LIMIT: limit, STREAM_MAX_BYTES: 1000, STREAM_IDLE_MS: 1000, ASSET_MAX_BYTES: limit },
    new Metrics(),
  );
  const provider = {
    name: 'provider',
    base,
    keys: [],
    key: { name: 'default', secret },
    adapter: {
      credential: (_call: unknown, text: string) => ({ authorization: `Bearer ${text}` }),
      credentialOrigins: [/^http:/],
      ...adapter,
    },
  } as unknown as KeyedProvider;
  const call = () =>
    client.callProvider(provider, {
      runId: 'run',
      workspaceId: 'workspace',
      operation: 'submit',
      call: { method: 'POST', url: `${base}/run` },
      timeoutMs: 5000,
      share: { grow: async () => {}, shrink: () => {} },
    });
  return { base, call };
}

const textOf = (signal: Signal) => Buffer.from((signal as HttpReply).body).toString();

it('requests uncompressed replies, and reads compressed ones anyway', async () => {
  const text = JSON.stringify({ picture: 'x'.repeat(1000) });
  const compressed = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) };
  for (const [coding, bytes] of Object.entries(compressed)) {
    const requested: (string | undefined)[] = [];
    const { call } = await provider(({ headers }, response) => {
      requested.push(headers['accept-encoding']?.toString());
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(bytes);
    });
    expect([coding, textOf(await call())]).toEqual([coding, text]);
    expect(requested).toEqual(['identity']);
    server?.close();
  }
});

it('limits the decompressed size of a reply, and survives truncated and invalid compression', async () => {
  const answers = [
    gzipSync('x'.repeat(limit + 1)),
    gzipSync('x'.repeat(5000)).subarray(0, 20),
    Buffer.from('text'),
  ];
  const { call } = await provider((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(answers.shift()),
  );
  expect(await call()).toEqual({ fault: 'oversize' });
  expect(await call()).toEqual({ fault: 'ambiguous', cause: 'reset' });
  expect(await call()).toEqual({ fault: 'ambiguous', cause: 'reset' });
});

it('repeats every call that was rejected with an expired token, with one new token for all', async () => {
  let good = 1;
  let exchanges = 0;
  const { base, call } = await provider(
    ({ url, headers }, response) => {
      if (url === '/token') response.end(JSON.stringify({ token: `t${(exchanges += 1)}` }));
      else response.writeHead(headers.authorization === `Bearer t${good}` ? 200 : 401).end();
    },
    {
      exchange: {
        call: () => ({ method: 'POST', url: `${base}/token` }),
        read: ({ body }: HttpReply) => ({
          token: (JSON.parse(Buffer.from(body).toString()) as { token: string }).token,
          lifeMs: 3_600_000,
        }),
      },
    },
  );
  expect(await call()).toMatchObject({ status: 200 });
  good = 2;
  const replies = await Promise.all(Array.from({ length: 8 }, call));
  expect(replies.map((reply) => 'status' in reply && reply.status)).toEqual(Array(8).fill(200));
  expect(exchanges).toBe(2);
});

it('sends nothing with a key that is not a valid header', async () => {
  let requests = 0;
  const { call } = await provider(
    (_request, response) => {
      requests += 1;
      response.end();
    },
    {},
    'k\u0435y',
  );
  expect(await call()).toEqual({ fault: 'not_sent', cause: 'no_key' });
  expect(requests).toBe(0);
});
