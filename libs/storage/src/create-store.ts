import { BadSettings } from '#schemas';
import { FilesStore } from './files.js';
import type { AssetStore } from './port.js';
import { credentialWarnings, s3Client } from './s3-client.js';
import { S3Store } from './s3.js';
import { filesSettings, type StorageSettings } from './settings.js';

/** S3 lists no more at once. */
const maxListPage = 1000;

interface OpenedStore {
  store: AssetStore;
  /** Sentences for the log at boot. */
  warnings: string[];
}

/** S3 when a bucket is set, else files. `listPage`: keys in one page of a listing. Throws `BadSettings`. */
export async function createStore(settings: StorageSettings, listPage = maxListPage): Promise<OpenedStore> {
  if (settings.S3_BUCKET === undefined) {
    return { store: new FilesStore(filesSettings(settings)), warnings: [] };
  }
  if ((settings.S3_ACCESS_KEY_ID === undefined) !== (settings.S3_SECRET_ACCESS_KEY === undefined)) {
    throw new BadSettings(['S3_ACCESS_KEY_ID: expected together with S3_SECRET_ACCESS_KEY']);
  }
  const client = s3Client(settings);
  const signer = settings.S3_PUBLIC_ENDPOINT ? s3Client(settings, settings.S3_PUBLIC_ENDPOINT) : client;
  const store = new S3Store({ client, signer, bucket: settings.S3_BUCKET, listPage });
  return { store, warnings: await credentialWarnings(client) };
}
