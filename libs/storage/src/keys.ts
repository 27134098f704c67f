import { isUuid } from '#schemas';
import { type AssetStore, type ListedAsset, StorageError } from './port.js';

/** Larger inputs and outputs go to the store: as rows they would fill the cache and the WAL of Postgres. */
export const maxRowBytes = 256 * 1024;

/** The store's keys for a run. They are fixed, so that a repeated put does not create a second object. */
export const runKeys = {
  input: (runId: string) => `runs/${runId}/input`,
  /** A reply that is too large for a row, as received from the provider. */
  reply: (runId: string) => `runs/${runId}/reply`,
  /** The reply with the URLs of copied assets. */
  output: (runId: string) => `runs/${runId}/output`,
  /** `extension` with its dot, or empty. */
  asset: (runId: string, index: number, extension: string) => `runs/${runId}/assets/${index}${extension}`,
};

/**
 * The key of a caller's file. `extension` (with its dot, or empty) is for providers that go by file names.
 */
export const fileKey = (fileId: string, extension: string): string => `files/${fileId}${extension}`;

/** The folders that contain all these keys. */
export const keyFolders = ['runs/', 'files/'];

export interface OwnedObject extends ListedAsset {
  /** The id of the run or of the caller's file that the key belongs to. */
  ownerId: string;
}

/** Lists every object of a run or a caller's file. Other objects in a shared bucket are skipped. */
export async function* ownedObjects(store: AssetStore, signal: AbortSignal): AsyncGenerator<OwnedObject> {
  for (const folder of keyFolders) {
    for await (const object of store.list(folder, signal)) {
      const [ownerId = ''] = object.key.slice(folder.length).split(/[/.]/, 1);
      if (isUuid(ownerId)) yield { ...object, ownerId };
    }
  }
}

/** The key in a link to the store, even if the link has expired. Undefined for any other URL. */
export async function linkedKey(store: AssetStore, url: string): Promise<string | undefined> {
  const link = await store.sign('x', { expiresInSeconds: 1, nowMs: Date.now() });
  const start = link.slice(0, link.indexOf('?') - 1);
  return url.startsWith(start) ? url.slice(start.length).split('?', 1)[0] : undefined;
}

const segment = '[A-Za-z0-9][A-Za-z0-9._-]*';
const keyPattern = new RegExp(`^${segment}(?:/${segment})*$`);
const maxLength = 512;

/** Throws `bad_key`. Valid keys need no escaping in a path, a URL or a signature. */
export function checkKey(key: string): void {
  if (key.length <= maxLength && !key.includes('..') && keyPattern.test(key)) return;
  throw new StorageError('bad_key', `Not an asset key: ${JSON.stringify(key.slice(0, 80))}`);
}
