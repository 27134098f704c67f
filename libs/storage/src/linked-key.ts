import type { AssetStore } from './port.js';

/** The key that a link to the store names, whether or not the link still opens it; undefined for any other URL. */
export async function linkedKey(store: AssetStore, url: string): Promise<string | undefined> {
  const link = await store.sign('x', { expiresInSeconds: 1, nowMs: Date.now() });
  const start = link.slice(0, link.indexOf('?') - 1);
  return url.startsWith(start) ? url.slice(start.length).split('?', 1)[0] : undefined;
}
