import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Catalog, type Model, modelType, withModelTypes } from '#catalog';
import { release } from '#observability';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Entry, entriesOf, sha256, tarball } from './archives.js';
import { packagesFolder } from './packages-folder.js';

/** A package under a URL that never has other bytes, because it contains their digest. */
export interface ClientPackage extends Entry {
  /** The first half of the SHA-256 in hex. */
  digest: string;
  /** The whole SHA-256 in hex. */
  sha256: string;
}

/** The name of the TypeScript client without its version. */
export const npmName = 'model-router-client.tgz';
const typesFile = 'package/dist/cjs/models.d.ts';
const maxKeptBytes = 16 * 1024 * 1024;

/** The packages of the release, and the TypeScript client with the types of a caller's models. */
@Injectable()
export class ClientPackages {
  /** The packages of the release, with the built-in models. */
  readonly ofRelease: readonly ClientPackage[] = readdirSync(packagesFolder)
    .sort()
    .map((name) => packageOf({ name, bytes: readFileSync(path.join(packagesFolder, name)) }));
  private readonly npmFiles: readonly Entry[];
  /** Packages by the globs that select their models. Each was made for one revision of the catalog. */
  private readonly made = new LRUCache<string, { catalog: Catalog; made: ClientPackage }>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ made }, globs) => made.bytes.length + 2 * globs.length,
  });

  constructor() {
    const npm = this.find(npmName);
    if (npm === undefined) throw new Error(`${packagesFolder} has no TypeScript client`);
    this.npmFiles = entriesOf(npm.bytes);
  }

  /** The package of the release with this name. The TypeScript client has a name without its version, too. */
  find(name: string): ClientPackage | undefined {
    const full = name === npmName ? npmName.replace('.tgz', `-${release.version}.tgz`) : name;
    return this.ofRelease.find((each) => each.name === full);
  }

  /** The TypeScript client with the types of the models that match the globs of a workspace. */
  async typed(
    catalog: Catalog,
    globs: readonly string[],
    isVisible: (model: Model) => boolean,
  ): Promise<ClientPackage> {
    const name = globs.join('\n');
    const known = this.made.get(name);
    if (known?.catalog === catalog) return known.made;
    const { models } = catalog.page({ limit: Number.MAX_SAFE_INTEGER, filter: isVisible });
    // One model per turn of the event loop, so that other calls do not wait.
    for (const model of models) {
      modelType(model);
      await setImmediate();
    }
    const entries = this.npmFiles.map((entry) =>
      entry.name === typesFile
        ? { ...entry, bytes: Buffer.from(withModelTypes(String(entry.bytes), models)) }
        : entry,
    );
    const made = packageOf({ name: npmName, bytes: tarball(entries) });
    this.made.set(name, { catalog, made });
    return made;
  }
}

function packageOf({ name, bytes }: Entry): ClientPackage {
  const hash = sha256(bytes).digest('hex');
  return { name, bytes, digest: hash.slice(0, 32), sha256: hash };
}
