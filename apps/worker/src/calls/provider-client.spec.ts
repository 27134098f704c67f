import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import type { KeyedProvider, HttpReply, Signal } from '#providers';
import { Agent } from 'undici';
import {
  content,
  json,
  type Reply,
  ScriptedServer,
  status,
} from '../../../../test/harness/scripted-server.js';
import type { Payloads } from '../bytes/payloads.js';
import type { OutboundAgents } from './outbound-agents.js';
import { ProviderClient } from './provider-client.js';

const agent = new Agent();
const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const limit = 100_000;

/** A client for a provider that answers as given. */
async function provider(reply: Reply, adapter: object = {}, secret = 'key') {
  const server = await ScriptedServer.start(reply);
  servers.push(server);
  const { url: base, calls } = server;
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
  return { base, calls, call };
}

const textOf = (signal: Signal) => Buffer.from((signal as HttpReply).body).toString();

it('requests uncompressed replies, and reads compressed ones anyway', async () => {
  const text = JSON.stringify({ picture: 'x'.repeat(1000) });
  const compressed = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) };
  for (const [coding, bytes] of Object.entries(compressed)) {
    const { call, calls } = await provider(
      content('application/json', bytes, 200, { 'content-encoding': coding }),
    );
    expect([coding, textOf(await call())]).toEqual([coding, text]);
    expect(calls.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
  }
});

it('limits the decompressed size of a reply, and survives truncated and invalid compression', async () => {
  const answers = [
    gzipSync('x'.repeat(limit + 1)),
    gzipSync('x'.repeat(5000)).subarray(0, 20),
    Buffer.from('text'),
  ];
  const { call } = await provider((_call, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(answers.shift()),
  );
  expect(await call()).toEqual({ fault: 'oversize' });
  expect(await call()).toEqual({ fault: 'ambiguous', cause: 'reset' });
  expect(await call()).toEqual({ fault: 'ambiguous', cause: 'reset' });
});

it('repeats every call that was rejected with an expired token, with one new token for all', async () => {
  let good = 1;
  const { base, call, calls } = await provider(
    (received, response, nth) => {
      const reply =
        received.path === '/token'
          ? json({ token: `t${nth}` })
          : status(received.headers['authorization'] === `Bearer t${good}` ? 200 : 401);
      return reply(received, response, nth);
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
  expect(calls.filter(({ path }) => path === '/token')).toHaveLength(2);
});

it('sends nothing with a key that is not a valid header', async () => {
  const { call, calls } = await provider(status(200), {}, 'k\u0435y');
  expect(await call()).toEqual({ fault: 'not_sent', cause: 'no_key' });
  expect(calls).toEqual([]);
});
