import { generateKeyPairSync } from 'node:crypto';
import { type Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import { declaredProvider, type KeyedProvider, type ProviderDefinition, providerList } from '#providers';
import { Agent } from 'undici';
import { credential } from '../../libs/providers/src/declared/credential-shape.js';
import { fixtureFolders, openFixtures } from '../../libs/providers/src/testing/fixtures.js';
import { content, json, type ReceivedCall, ScriptedServer } from '../harness/scripted-server.js';
import { AssetSource } from '../../apps/worker/src/assets/asset-source.js';
import type { Payloads } from '../../apps/worker/src/bytes/payloads.js';
import { CarriedSecrets, SecretFilter } from '../../apps/worker/src/calls/carried-secrets.js';
import type { OutboundAgents } from '../../apps/worker/src/calls/outbound-agents.js';
import { type OutboundCall, ProviderClient } from '../../apps/worker/src/calls/provider-client.js';

const agent = new Agent();
const server = await ScriptedServer.start();
afterAll(async () => {
  await server.stop();
  await agent.destroy();
});

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const token = 'ya29.a-token-of-an-account-0123456789';
server.paths.set('/token', json({ access_token: token, expires_in: 3600 }));
const serviceAccount = JSON.stringify({
  type: 'service_account',
  client_email: 'router@project.example',
  private_key: privateKey,
  private_key_id: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  token_uri: `${server.url}/token`,
});
const pair = 'the-access-key-id/1:the-secret-access-key/2';

/** Kinds of credentials that no built-in provider has. */
function declared(provider: string, credential: object): ProviderDefinition {
  const row = { provider, base: 'https://api.acme.example', submit: { url: '{base}/run' }, ...credential };
  const read = declaredProvider(row);
  if (!read.definition) throw new Error(JSON.stringify(read.problems));
  return read.definition;
}
const others: [string, ProviderDefinition, string][] = [
  ['sigv4', declared('aws', { credential: { sigv4: { service: 'acme', region: 'eu-west-1' } } }), pair],
  ['a query', declared('query', { auth_query: { key: '{secret}', v: '2' } }), 'the key/of a query'],
];

/** Each provider with a key for each of its protocols. */
const providers = [
  ...providerList.flatMap((definition) =>
    fixtureFolders(definition.name).map((folder): [string, ProviderDefinition, string] => {
      const isAccount = definition.create(server.url, {}).exchange !== undefined;
      const { secret = 'the-secret-of-a-provider' } = openFixtures(folder).facts;
      return [folder.split('/providers/').at(-1) ?? '', definition, isAccount ? serviceAccount : secret];
    }),
  ),
  ...others,
];

const marker = 'the reply was read';
/** A provider may repeat all of a call, as it is, in JSON and in a URL. */
function repeated({ headers, path }: ReceivedCall, key: string): string {
  return [
    marker,
    ...Object.values(headers),
    path,
    key,
    JSON.stringify(key),
    JSON.stringify(key).replaceAll('/', String.raw`\/`),
    encodeURIComponent(key),
  ].join(' ');
}

/** The texts that nobody may see. The words of a header that are this long are nothing but keys, tokens and signatures. */
function secretsIn({ headers, url }: ReceivedCall, key: string): string[] {
  const parts = key === serviceAccount ? privateKey.split('\n').slice(1, -2) : [key, ...key.split(':')];
  const words = Object.values(headers).flatMap((value) => value.split(/[\s,;=/]+/));
  const carried = [...words.filter((word) => word.length >= 20), url.searchParams.get('key') ?? ''];
  return [...parts, ...carried].filter((text) => text.length >= 8);
}

interface Place {
  /** How the provider answers. */
  reply: (text: string) => Parameters<ScriptedServer['paths']['set']>[1];
  operation?: OutboundCall['operation'];
  stream?: boolean;
}
const chunks = (text: string, headers: object) =>
  ((_call, response) => {
    response.writeHead(200, { ...headers });
    const write = (at: number): unknown => {
      if (at >= text.length) return response.end();
      return response.write(text.slice(at, at + 7), () => setImmediate(write, at + 7));
    };
    write(0);
  }) satisfies ReturnType<Place['reply']>;
const sse = { 'content-type': 'text/event-stream' };

/** Every way in which something of a provider enters the worker. What leaves it is made of these alone. */
const places: Record<string, Place> = {
  'a result, which callers, webhooks, samples and exports get': { reply: (text) => json({ text }) },
  'an error, which callers and attempts quote': { reply: (text) => json({ error: text }, 422) },
  'a header field, which attempts quote': { reply: (text) => json({}, 200, { 'x-request-id': text }) },
  'a compressed reply': {
    reply: (text) => content('text/plain', gzipSync(text), 200, { 'content-encoding': 'gzip' }),
  },
  'a small file': { reply: (text) => content('image/png', text) },
  'a large file, which is stored while it arrives': {
    reply: (text) => content('image/png', `${text}${'x'.repeat(300_000)}${text}`),
  },
  'an event, live and stored': {
    reply: (text) => content('text/event-stream', `data: ${text}\n\n`),
    stream: true,
  },
  'an event that is cut anywhere': { reply: (text) => chunks(`data: ${text}\n\n`, sse), stream: true },
  'a stream that breaks off': {
    reply: (text) => (_call, response) =>
      response.writeHead(200, sse).write(`data: ${text}\n\n`, () => response.destroy()),
    stream: true,
  },
  'a poll or fetch': { reply: (text) => json({ text }), operation: 'resume' },
  'an answer to a cancellation': { reply: (text) => json({ text }), operation: 'cancel' },
  'an upload': { reply: (text) => json({ text }, 400), operation: 'upload' },
  'a check, whose detail operators read': { reply: (text) => json({ text }, 401), operation: 'check' },
};

const calls: ReceivedCall[] = [];
const metrics = new Metrics();
const textOf = async (body: Readable) => Buffer.concat((await body.toArray()) as Buffer[]).toString('latin1');
const agents = {
  to: async () => agent,
  toAsset: async () => agent,
  trusted: agent,
} as unknown as OutboundAgents;

/** Everything that a call brings: the reply, what is passed on, and what is stored. */
async function brought(definition: ProviderDefinition, key: string, { reply, operation, stream }: Place) {
  calls.length = 0;
  server.paths.set('/run', (call, response, nth) => {
    calls.push(call);
    return reply(repeated(call, key))(call, response, nth);
  });
  const passed: Uint8Array[] = [];
  const stored: string[] = [];
  const putBody = async (_key: string, _runId: string, body: AsyncIterable<Buffer>) => {
    for await (const chunk of body) stored.push(Buffer.from(chunk).toString('latin1'));
  };
  const limit = 10_000_000;
  const client = new ProviderClient(
    agents,
    { putBody } as unknown as Payloads,
    { PROVIDER_REPLY_LIMIT: limit, STREAM_MAX_BYTES: limit, STREAM_IDLE_MS: 9_000, ASSET_MAX_BYTES: limit },
    metrics,
  );
  const folded = { document: {}, hasUsage: false, isComplete: false, writtenBytes: 0, isPartial: false };
  const arriving = () => ({ folded, take: () => {}, hasEnded: false, isMissingUsage: false });
  const signal = await client.callProvider(keyed(definition, key), {
    runId: 'run',
    workspaceId: 'workspace',
    operation: operation ?? 'submit',
    call: {
      method: 'POST',
      url: `${server.url}/run`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{}'),
      ...(stream && { stream: { arriving } }),
    },
    timeoutMs: 9_000,
    share: { grow: async () => {}, shrink: () => {} },
    passOn: () => ({ write: (bytes) => void passed.push(Uint8Array.from(bytes)), close: async () => {} }),
  });
  if ('fault' in signal) throw new Error(JSON.stringify(signal));
  const live = Buffer.concat(passed).toString('latin1');
  const body = Buffer.from(signal.body).toString('latin1');
  expect(stream ? live : body).toBe(body);
  return [JSON.stringify(signal.headers), body, live, stored.join('')].join('\n');
}

function keyed(definition: ProviderDefinition, secret: string): KeyedProvider {
  const { name } = definition;
  const adapter = definition.create(server.url, {});
  return {
    name,
    base: server.url,
    keys: [],
    key: { name: 'default', secret },
    adapter,
  } as unknown as KeyedProvider;
}

const found = (text: string, key: string) =>
  calls.flatMap((call) => secretsIn(call, key)).filter((secret) => text.includes(secret));

it('covers each kind of credential that a provider can declare', () => {
  // Each kind names a provider above that has it.
  const covered = { google_service_account: 'google', jwt: 'kling', tc3: 'tencent', sigv4: 'aws' };
  const kinds = credential.options.flatMap(({ shape }) => Object.keys(shape));
  expect(Object.keys(covered).toSorted()).toEqual(kinds.toSorted());
  const names = providers.map(([, { name }]) => name);
  expect(names).toEqual(expect.arrayContaining(Object.values(covered)));
});

describe.each(Object.entries(places))('%s', (_name, place) => {
  it.each(providers)('does not repeat the secrets of %s', async (_provider, definition, key) => {
    const text = await brought(definition, key, place);
    expect(text).toContain(marker);
    expect(calls.length).toBeGreaterThan(0);
    expect(found(text, key)).toEqual([]);
  });
});

it('a file that is downloaded with the key does not repeat it', async () => {
  const source = new AssetSource(agents, { ASSET_MAX_BYTES: 1_000_000, ASSET_MEDIA_TYPES: ['text/plain'] });
  for (const [, definition, key] of providers) {
    const provider = keyed(definition, key);
    if (!provider.adapter.assetsNeedKey) continue;
    calls.length = 0;
    server.paths.set('/file', (call, response, nth) => {
      calls.push(call);
      return content('text/plain', repeated(call, key))(call, response, nth);
    });
    const terms = { workspaceId: 'workspace', signal: AbortSignal.timeout(9_000) };
    const text = await textOf((await source.open(new URL(`${server.url}/file`), provider, terms)).body);
    expect(text).toContain(marker);
    expect(calls).toHaveLength(1);
    expect(found(text, key)).toEqual([]);
  }
  expect(providers.filter(([, of, key]) => keyed(of, key).adapter.assetsNeedKey)).not.toEqual([]);
});

it('finds a secret that is planted behind the place where it is removed', async () => {
  for (const [, definition, key] of providers) {
    await brought(definition, key, { reply: (text) => json({ text }) });
    const leaks = calls.map((call) => repeated(call, key));
    expect(found(leaks.join('\n'), key)).not.toEqual([]);
  }
});

const kept = async (definition: ProviderDefinition, key: string, text: string) => {
  const secrets = new CarriedSecrets(key);
  const { adapter } = keyed(definition, key);
  secrets.authenticate(adapter, { method: 'POST', url: `${server.url}/run` }, key);
  return secrets.cleanedFields({ text })['text'];
};
const builtIn = (name: string) => providerList.find((each) => each.name === name) as ProviderDefinition;

describe('what is not secret stays', () => {
  it.each([
    ['a version that each call carries', 'anthropic', 'the-secret-of-a-provider', 'since 2023-06-01'],
    [
      'the name of an algorithm',
      'tencent',
      'the-secret-id:the-key',
      'TC3-HMAC-SHA256 SignedHeaders tc3_request',
    ],
    ['a key that is an ordinary word', 'openai', 'none', 'none of them'],
    [
      'the name of an account',
      'openai',
      serviceAccount,
      'router@project.example -----BEGIN PRIVATE KEY-----',
    ],
  ])('%s', async (_what, name, key, text) => {
    expect(await kept(builtIn(name), key, text)).toBe(text);
  });
});

describe('bytes in chunks', () => {
  const secrets = ['secret-key', 'secret-key:and-more', 'and-more'].map((text) => Buffer.from(text));
  const clean = (pieces: string[]) => {
    const filter = new SecretFilter(secrets);
    const bytes = [...pieces.map((piece) => filter.push(Buffer.from(piece))), filter.rest()];
    return Buffer.concat(bytes).toString();
  };

  it.each([
    ['a secret-key.', 'a [redacted].'],
    ['secret-key:and-more', '[redacted]'],
    ['secret-key:and-mor', '[redacted]:and-mor'],
    ['secret-secret-key', 'secret-[redacted]'],
    ['secret-ke', 'secret-ke'],
    ['and-moreand-more', '[redacted][redacted]'],
    ['nothing', 'nothing'],
  ])('have the same result wherever they are cut: %s', (text, result) => {
    expect(clean([text])).toBe(result);
    expect(clean(text.split(''))).toBe(result);
    for (let at = 1; at < text.length; at += 1)
      expect(clean([text.slice(0, at), text.slice(at)])).toBe(result);
  });

  it('are passed on as they are, and at once, if a secret cannot begin there', () => {
    const filter = new SecretFilter(secrets);
    const bytes = Buffer.from('data: 1\n\n');
    expect(filter.push(bytes)).toEqual(bytes);
    expect(filter.rest()).toHaveLength(0);
  });
});
