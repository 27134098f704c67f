import type { Metrics } from '#observability';
import { BadSettings } from '#schemas';
import type { AssetUrlClaim } from './asset-url.js';
import { FilesStore } from './files.js';
import { measuredStore } from './measured-store.js';
import type { Asset, AssetStore } from './port.js';
import { S3Store } from './s3.js';
import { credentialWarnings, s3Client } from './s3-client.js';
import { filesSettings, type StorageSettings } from './settings.js';

/** Rejects with `not_found` for a claim that is forged, expired or malformed, and for a deleted asset. */
export type OpenSigned = (
  claim: AssetUrlClaim,
  when: { nowMs: number; signal: AbortSignal },
) => Promise<Asset>;

export interface OpenedStore {
  store: AssetStore;
  /** For `GET /assets/*` of a gateway; undefined when signed URLs lead to S3 itself. */
  openSigned: OpenSigned | undefined;
  /** Sentences for the log at boot. */
  warnings: string[];
}

/** S3 when a bucket is set, else files. Throws `BadSettings`. */
export async function createStore(settings: StorageSettings, metrics?: Metrics): Promise<OpenedStore> {
  const opened = await openStore(settings);
  return metrics ? { ...opened, store: measuredStore(opened.store, metrics.storeSeconds) } : opened;
}

async function openStore(settings: StorageSettings): Promise<OpenedStore> {
  if (settings.S3_BUCKET === undefined) {
    const store = new FilesStore(filesSettings(settings));
    return { store, openSigned: (claim, when) => store.openSigned(claim, when), warnings: [] };
  }
  if ((settings.S3_ACCESS_KEY_ID === undefined) !== (settings.S3_SECRET_ACCESS_KEY === undefined)) {
    throw new BadSettings(['S3_ACCESS_KEY_ID: expected together with S3_SECRET_ACCESS_KEY']);
  }
  const client = s3Client(settings);
  const signer = settings.S3_PUBLIC_ENDPOINT ? s3Client(settings, settings.S3_PUBLIC_ENDPOINT) : client;
  const store = new S3Store({
    client,
    signer,
    bucket: settings.S3_BUCKET,
    partBytes: settings.S3_PART_BYTES,
    partsInFlight: settings.S3_PARTS_IN_FLIGHT,
    listPage: settings.S3_LIST_PAGE,
  });
  return { store, openSigned: undefined, warnings: await credentialWarnings(client) };
}
