import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { KeyedProvider } from '#providers';
import { Agent } from 'undici';
import { content, redirect, ScriptedServer } from '../../../../test/harness/scripted-server.js';
import type { OutboundAgents } from '../calls/outbound-agents.js';
import { discardBody } from '../calls/provider-client.js';
import { AssetSource } from './asset-source.js';

const agent = new Agent();
let servers: ScriptedServer[];
let own: string;
let elsewhere: string;
beforeAll(async () => {
  const file = content('text/plain', 'x');
  const [first, second] = await Promise.all([ScriptedServer.start(file), ScriptedServer.start(file)]);
  servers = [first, second];
  [own, elsewhere] = [first.url, second.url];
  first.paths.set('/moved', redirect('/metrics'));
  first.paths.set('/out', redirect(`${elsewhere}/in`));
  second.paths.set('/in', redirect(`${own}/metrics`));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await agent.destroy();
});

const requested = () => servers.flatMap(({ calls }) => calls.map(({ path }) => path));

/** Opens a URL and returns the result. The provider is on a private address; `elsewhere` is allowed. */
async function opened(url: string, adapter: object): Promise<string> {
  for (const { calls } of servers) calls.length = 0;
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
  expect(requested()).toEqual([]);
});

it.each(['in', 'own'])('does not follow a redirect from another origin to the provider: %s', async (from) => {
  expect(await opened(from === 'in' ? `${elsewhere}/in` : `${own}/out`, declared)).toBe('refused_address');
  expect(requested()).not.toContain('/metrics');
});
