import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { request } from 'undici';
import { type NameResolver, UnresolvedName } from '../resolver/name-resolver.js';
import { guarded, OutboundAgents, RefusedAddress } from './outbound-agents.js';
import { ScriptedServer } from '../../../../test/harness/scripted-server.js';
import { faultOf } from './fault.js';

const base = 'https://api.provider.example';
const address = (text: string): LookupAddress => ({ address: text, family: 4 });
const options = {
  ASSET_ALLOWED_ORIGINS: ['http://127.0.0.1:8082'],
  WEBHOOK_ALLOWED_ORIGINS: ['http://127.0.0.2:*'],
};

const terms = { workspaceId: 'workspace', signal: new AbortController().signal };

/** Agents for which every name resolves to these addresses, one answer after the other. */
const resolving = (answers: readonly string[][]) => {
  let asked = 0;
  const names = {
    resolve: async () => {},
    known: () => (answers[Math.min(asked++, answers.length - 1)] ?? []).map(address),
  };
  return { agents: new OutboundAgents(options, names as unknown as NameResolver), asked: () => asked };
};

describe('outbound agents', () => {
  let canary: ScriptedServer;
  beforeAll(async () => {
    canary = await ScriptedServer.start();
  });
  afterAll(() => canary.stop());

  it('are one for origins that the operator configured and one for other public origins', async () => {
    const { agents } = resolving([]);
    const to = (url: string) => agents.to(new URL(url), base, terms);
    expect(await to(`${base}/a`)).toBe(agents.trusted);
    expect(await to('http://127.0.0.1:8082/a')).toBe(agents.trusted);
    expect(await to('https://cdn.example/a')).not.toBe(agents.trusted);
    expect(await to('https://cdn.example/a')).not.toBeNull();
    expect(await to('http://cdn.example/a')).toBeNull();
    expect(await to('http://127.0.0.1:8083/a')).toBeNull();
    expect(await to('http://127.0.0.2:9000/a')).toBeNull();
    const toReceiver = (url: string) => agents.toReceiver(new URL(url), terms);
    expect(await toReceiver('http://127.0.0.2:9000/a')).toBe(agents.trusted);
    expect(await toReceiver('https://hooks.example/a')).toBe(await to('https://cdn.example/a'));
    expect(await toReceiver('http://127.0.0.1:8082/a')).toBeNull();
    expect(await toReceiver(`${base}/a`)).not.toBe(agents.trusted);
    await agents.onApplicationShutdown();
  });

  it('do not trust a provider’s own origin when a reply names it as the location of an asset', async () => {
    const { agents } = resolving([]);
    const toAsset = (url: string) => agents.toAsset(new URL(url), terms);
    expect(await toAsset(`${base}/a`)).not.toBe(agents.trusted);
    expect(await toAsset('http://127.0.0.1:8082/a')).toBe(agents.trusted);
    expect(await toAsset('http://10.0.0.5:8000/metrics')).toBeNull();
    await agents.onApplicationShutdown();
  });

  it('reject before anything is sent if a name has no address', async () => {
    const absent = new UnresolvedName('gone.example', 'ENOTFOUND');
    const names = { resolve: () => Promise.reject(absent), known: () => [] };
    const agents = new OutboundAgents(options, names as unknown as NameResolver);
    const failure: unknown = await agents
      .toReceiver(new URL('https://gone.example/a'), terms)
      .catch((error: unknown) => error);
    expect(faultOf(failure)).toEqual({ fault: 'not_sent', cause: 'dns' });
    // Addresses and trusted origins are not resolved here.
    expect(await agents.toReceiver(new URL('https://93.184.216.34/a'), terms)).not.toBeNull();
    expect(await agents.toReceiver(new URL('https://[2606:4700::1111]/a'), terms)).not.toBeNull();
    expect(await agents.to(new URL(`${base}/a`), base, terms)).toBe(agents.trusted);
    await agents.onApplicationShutdown();
  });

  it.each([
    ['at once', [['127.0.0.1']]],
    ['among others', [['93.184.216.34', '127.0.0.1']]],
    ['the second time', [['192.0.2.1'], ['127.0.0.1']]],
  ])('never connect to this machine through a name that resolves to it %s', async (_when, answers) => {
    const { agents, asked } = resolving(answers);
    const dispatcher = await agents.to(new URL('https://rebinding.example/'), base, terms);
    if (dispatcher === null) throw new Error('a name may be called');
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const call = request(`https://rebinding.example:${canary.port}/`, { dispatcher });
      const failure = await call.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(faultOf(failure)).toMatchObject({ fault: 'not_sent' });
    }
    await agents.onApplicationShutdown();
    expect(asked()).toBeGreaterThanOrEqual(3);
    expect(canary.connections).toBe(0);
  });
});

const look = (addresses: readonly string[], all: boolean) =>
  new Promise<{ error: Error | null; address: unknown }>((resolve) =>
    guarded(() => addresses.map((address): LookupAddress => ({ address, family: isIP(address) })))(
      'name.example',
      { all },
      (error, address) => resolve({ error, address }),
    ),
  );

describe('a guarded lookup', () => {
  it.each([
    [true, ['127.0.0.1']],
    [false, ['127.0.0.1']],
    [true, ['93.184.216.34', '::1']],
    [true, ['93.184.216.34', '10.0.0.1']],
    [true, []],
  ])('rejects a name with a non-public address or without addresses (all: %s, %p)', async (all, found) => {
    expect((await look(found, all)).error).toBeInstanceOf(RefusedAddress);
  });

  it('answers in the requested form', async () => {
    const found = ['93.184.216.34', '2606:4700::1111'];
    expect(await look(found, false)).toEqual({ error: null, address: '93.184.216.34' });
    expect(await look(found, true)).toEqual({
      error: null,
      address: [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    });
  });
});
