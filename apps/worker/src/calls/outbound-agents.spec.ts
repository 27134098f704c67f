import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import net from 'node:net';
import { request } from 'undici';
import { guarded } from './address-guard.js';
import { OutboundAgents } from './outbound-agents.js';
import { faultOf } from './fault.js';

const base = 'https://api.partner.example';
const address = (text: string): LookupAddress => ({ address: text, family: 4 });
const options = {
  ASSET_ALLOWED_ORIGINS: ['http://127.0.0.1:8082'],
  WEBHOOK_ALLOWED_ORIGINS: ['http://127.0.0.2:*'],
};

describe('outbound agents', () => {
  let canary: net.Server;
  let connections = 0;
  beforeAll(async () => {
    canary = net.createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await once(canary.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => void canary.close());

  it('are one for what the operator configured and one for everything else, unless it may not be called', async () => {
    const agents = new OutboundAgents(options);
    const to = (url: string) => agents.to(new URL(url), base);
    expect(to(`${base}/a`)).toBe(agents.trusted);
    expect(to('http://127.0.0.1:8082/a')).toBe(agents.trusted);
    expect(to('https://cdn.example/a')).not.toBe(agents.trusted);
    expect(to('https://cdn.example/a')).not.toBeNull();
    expect(to('http://cdn.example/a')).toBeNull();
    expect(to('http://127.0.0.1:8083/a')).toBeNull();
    expect(to('http://127.0.0.2:9000/a')).toBeNull();
    const toReceiver = (url: string) => agents.toReceiver(new URL(url));
    expect(toReceiver('http://127.0.0.2:9000/a')).toBe(agents.trusted);
    expect(toReceiver('https://hooks.example/a')).toBe(to('https://cdn.example/a'));
    expect(toReceiver('http://127.0.0.1:8082/a')).toBeNull();
    expect(toReceiver(`${base}/a`)).not.toBe(agents.trusted);
    await agents.onApplicationShutdown();
  });

  it.each([
    ['at once', [['127.0.0.1']]],
    ['among others', [['93.184.216.34', '127.0.0.1']]],
    ['the second time', [['192.0.2.1'], ['127.0.0.1']]],
  ])('never lead to this machine by a name that points here %s', async (_when, answers) => {
    let asked = 0;
    const lookup = (_name: string, _options: unknown, callback: (...answer: unknown[]) => void) => {
      const found = answers[Math.min(asked, answers.length - 1)] ?? [];
      asked += 1;
      callback(null, found.map(address));
    };
    const agents = new OutboundAgents(options, guarded(lookup as never));
    const dispatcher = agents.to(new URL('https://rebinding.example/'), base);
    if (dispatcher === null) throw new Error('a name may be called');
    const { port } = canary.address() as net.AddressInfo;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const call = request(`https://rebinding.example:${port}/`, { dispatcher });
      const failure = await call.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(faultOf(failure)).toMatchObject({ fault: 'not_sent' });
    }
    await agents.onApplicationShutdown();
    expect(asked).toBeGreaterThanOrEqual(3);
    expect(connections).toBe(0);
  });
});
