import { describe } from '@jest/globals';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type AssetStore, createStore, StorageError, storageSettings } from '#storage';
import { readSettings } from '#schemas';
import { failOnLeftovers, ScriptedServer, temporaryFolder } from '../harness/index.js';
import { assetStoreSuite, type Side } from './suite.js';

const secrets = `${'new'.repeat(12)},${'old'.repeat(12)}`;

describe('assets as files', () => {
  assetStoreSuite(openFiles, { listed: 1_100 });
  failOnLeftovers();
});

async function openFiles(): Promise<Side> {
  const folder = temporaryFolder('assets');
  const root = path.join(folder, 'assets');
  let store: AssetStore | undefined;
  const server = await serve((claim, when) => {
    if (!store) throw new Error('the store is not open yet');
    return store.openSigned(claim, when);
  });
  const open = (assetDir: string) =>
    createStore(
      readSettings(storageSettings, {
        ASSET_DIR: assetDir,
        ASSET_BASE_URL: server.url,
        SIGNING_SECRET: secrets,
      }),
    );
  const opened = await open(root);
  store = opened.store;
  return {
    store: opened.store,
    keys: async (prefix) =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
        .filter((key) => !key.includes('~') && key.startsWith(prefix)),
    leaveUnfinished: async () => {
      mkdirSync(path.join(root, '~incoming'), { recursive: true });
      writeFileSync(path.join(root, '~incoming', 'e1a'), 'half');
      writeFileSync(path.join(root, '~incoming', 'e1a~type'), 'image/png');
    },
    unreachable: async () => {
      const file = path.join(folder, 'no-folder');
      writeFileSync(file, '');
      return (await open(path.join(file, 'assets'))).store;
    },
    close: async () => {
      await opened.store.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The gateway's route for signed URLs, reduced to the minimum. */
const serve = (openSigned: AssetStore['openSigned']) =>
  ScriptedServer.start(({ url }, response) => {
    const claim = {
      key: url.pathname.replace('/assets/', ''),
      expires: url.searchParams.get('expires') ?? '',
      signature: url.searchParams.get('signature') ?? '',
    };
    return openSigned(claim, { nowMs: Date.now(), signal: AbortSignal.timeout(10_000) })
      .then((asset) => {
        response.writeHead(200, { 'content-type': asset.mediaType, 'content-length': asset.bytes });
        return pipeline(asset.read(), response);
      })
      .catch((error: unknown) => {
        response.writeHead(error instanceof StorageError && error.failure === 'not_found' ? 404 : 500).end();
      });
  });
