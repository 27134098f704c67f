export { type AssetUrlClaim, maxSignedSeconds } from './asset-url.js';
export { createStore } from './create-store.js';
export { dispositionOf } from './disposition.js';
export { AssetStore, type Body, type OpenAsset, type PutFacts, StorageError } from './port.js';
export { fileKey, linkedKey, maxRowBytes, type OwnedObject, ownedObjects, runKeys } from './keys.js';
export { StorageModule } from './storage.module.js';
export { type SigningSettings, signingSettings, type StorageSettings, storageSettings } from './settings.js';
