export { type AssetUrlClaim, verifyAssetUrl } from './asset-url.js';
export { createStore, type OpenedStore, type OpenSigned } from './create-store.js';
export type { Asset, AssetStore, Body, ListedAsset, PutFacts, Stored } from './port.js';
export { runKeys } from './run-keys.js';
export { StorageError, type StorageFailure } from './storage-error.js';
export { type StorageSettings, storageSettings } from './settings.js';
