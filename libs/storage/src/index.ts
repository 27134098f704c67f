export type { AssetUrlClaim } from './asset-url.js';
export { createStore } from './create-store.js';
export { dispositionOf } from './disposition.js';
export { linkedKey } from './linked-key.js';
export {
  type Asset,
  AssetStore,
  type Body,
  type ListedAsset,
  type OpenAsset,
  type PutFacts,
  type Stored,
} from './port.js';
export { fileKey, runKeys } from './run-keys.js';
export { StorageError, type StorageFailure } from './storage-error.js';
export { StorageModule } from './storage.module.js';
export { type StorageSettings, storageSettings } from './settings.js';
