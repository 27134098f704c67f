import { isUuid } from '#schemas';
import { type AssetStore, type ListedAsset, StorageError } from './port.js';

/** Inputs and outputs above this size are kept in the store: as rows they would fill the cache and the log of Postgres. */
export const maxRowBytes = 256 * 1024;

/** Where the store keeps the pieces of a run. The same piece always has the same key: a repeated put is no second object. */
export const runKeys = {
  input: (runId: string) => `runs/${runId}/input`,
  /** A reply that is too large for a row, as the provider gave it. */
  reply: (runId: string) => `runs/${runId}/reply`,
  /** The same with the URLs of copied assets in it. */
  output: (runId: string) => `runs/${runId}/output`,
  /** `extension` with its dot, or empty. */
  asset: (runId: string, index: number, extension: string) => `runs/${runId}/assets/${index}${extension}`,
};

/** The key of a caller's file; the ending, with its dot or empty, is for providers that go by the names in URLs. */
export const fileKey = (fileId: string, extension: string): string => `files/${fileId}${extension}`;

/** The folders of all these keys. */
export const keyFolders = ['runs/', 'files/'];

export interface OwnedObject extends ListedAsset {
  /** The run, or the file of a caller's, that the key names. */
  ownerId: string;
}

/** Every object of a run or of a caller's file. Others may use the bucket too: an object with another key is passed over. */
export async function* ownedObjects(store: AssetStore, signal: AbortSignal): AsyncGenerator<OwnedObject> {
  for (const folder of keyFolders) {
    for await (const object of store.list(folder, signal)) {
      const [ownerId = ''] = object.key.slice(folder.length).split(/[/.]/, 1);
      if (isUuid(ownerId)) yield { ...object, ownerId };
    }
  }
}

/** The key that a link to the store names, whether or not the link still opens it; undefined for any other URL. */
export async function linkedKey(store: AssetStore, url: string): Promise<string | undefined> {
  const link = await store.sign('x', { expiresInSeconds: 1, nowMs: Date.now() });
  const start = link.slice(0, link.indexOf('?') - 1);
  return url.startsWith(start) ? url.slice(start.length).split('?', 1)[0] : undefined;
}

const segment = '[A-Za-z0-9][A-Za-z0-9._-]*';
const keyPattern = new RegExp(`^${segment}(?:/${segment})*$`);
const maxLength = 512;

/** Throws `bad_key`. The characters need no escaping in a path, in a URL or in a signature. */
export function checkKey(key: string): void {
  if (key.length <= maxLength && !key.includes('..') && keyPattern.test(key)) return;
  throw new StorageError('bad_key', `Not an asset key: ${JSON.stringify(key.slice(0, 80))}`);
}
