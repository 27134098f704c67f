import { FilesStore } from './files.js';
import type { AssetStore } from './port.js';
import { filesSettings, type StorageSettings } from './settings.js';

/** S3 if a bucket is set, otherwise files. `warnings` are logged at startup. Throws `BadSettings`. */
export async function createStore(
  settings: StorageSettings,
): Promise<{ store: AssetStore; warnings: string[] }> {
  const { S3_BUCKET: bucket } = settings;
  if (bucket === undefined) return { store: new FilesStore(filesSettings(settings)), warnings: [] };
  // The AWS SDK takes longer to load than the rest of the store, and a store of files does not need it.
  const { openBucket } = await import('./open-bucket.js');
  return openBucket(bucket, settings);
}
