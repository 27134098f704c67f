import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KeyedProvider } from '#providers';
import { Agent } from 'undici';
import type { OutboundAgents } from '../calls/outbound-agents.js';
import { discardBody } from '../calls/provider-client.js';
import { AssetSource } from './asset-source.js';

const agent = new Agent();
const servers: Server[] = [];
const requested: string[] = [];

async function serve(answer: (path: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    requested.push(request.url ?? '');
    answer(request.url ?? '', response);
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const file = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/plain' }).end('x');
const redirect = (response: ServerResponse, location: string) => response.writeHead(302, { location }).end();

let own: string;
let elsewhere: string;
beforeAll(async () => {
  own = await serve((path, response) =>
    path === '/moved'
      ? redirect(response, '/metrics')
      : path === '/out'
        ? redirect(response, `${elsewhere}/in`)
        : file(response),
  );
  elsewhere = await serve((path, response) =>
    path === '/in' ? redirect(response, `${own}/metrics`) : file(response),
  );
});
afterAll(async () => {
  for (const server of servers) server.close();
  await agent.destroy();
});

/** Opens a URL and returns the result. The provider is on a private address; `elsewhere` is allowed. */
async function opened(url: string, adapter: object): Promise<string> {
  requested.length = 0;
  const agents = {
    trusted: agent,
    toAsset: async ({ origin }: URL) => (origin === elsewhere ? agent : null),
  } as unknown as OutboundAgents;
  const source = new AssetSource(agents, { ASSET_MAX_BYTES: 1000, ASSET_MEDIA_TYPES: ['text/plain'] });
  const provider = {
    base: `${own}/v1`,
    key: { name: 'default', secret: 'key' },
    adapter,
  } as unknown as KeyedProvider;
  const terms = { workspaceId: 'workspace', signal: new AbortController().signal };
  return source.open(new URL(url), provider, terms).then(
    ({ body }) => {
      discardBody(body);
      return 'opened';
    },
    (error: { trouble: string }) => error.trouble,
  );
}

const declared = { assetsFromBase: true };

it('fetches assets from a provider on a private address only if its declaration says that it hosts them', async () => {
  expect(await opened(`${own}/file`, declared)).toBe('opened');
  expect(await opened(`${own}/moved`, declared)).toBe('opened');
  expect(await opened(`${own}/file`, {})).toBe('refused_address');
  expect(requested).toEqual([]);
});

it.each(['in', 'own'])('does not follow a redirect from another origin to the provider: %s', async (from) => {
  expect(await opened(from === 'in' ? `${elsewhere}/in` : `${own}/out`, declared)).toBe('refused_address');
  expect(requested).not.toContain('/metrics');
});
