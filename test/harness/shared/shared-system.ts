import { afterAll } from '@jest/globals';
import { appendFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtInDirectories } from '#catalog';
import { revisionOf } from '../../../libs/catalog/src/load-catalog.js';
import { runFolder } from '../running.js';
import type { RunningApp } from '../spawn-app.js';
import { SystemSide, type TestCaller } from '../system-side.js';
import type { TransportKind } from '../transports.js';
import { waitFor } from '../wait-for.js';
import { appOf, describedSystem, type DescribedSystem, secretsFile } from './described.js';

/**
 * The system that all files of a run share, one per transport: two gateways, a worker, the simulator. Files keep
 * apart by workspace, and at the provider by a tag in the prompt. They must not read or change global state, such
 * as counters, the simulator's clock and the invariants.
 */
class SharedSystem extends SystemSide {
  readonly gateways: readonly RunningApp[];
  readonly workers: readonly RunningApp[];
  readonly apps: readonly RunningApp[];
  readonly redis: { url: string } | undefined;
  /** The directory of the operator's rows and providers, which all apps read: see `serve`. */
  readonly catalog: string;

  constructor(private readonly facts: DescribedSystem) {
    super({ url: facts.databaseUrl }, appOf(facts.simulator), facts.assets);
    this.gateways = facts.gateways.map(appOf);
    this.workers = facts.workers.map(appOf);
    this.apps = [...this.gateways, ...this.workers];
    this.redis = facts.redisUrl === undefined ? undefined : { url: facts.redisUrl };
    this.catalog = facts.catalog;
  }

  env(): Record<string, string> {
    return this.facts.env;
  }

  override async caller(...facts: Parameters<SystemSide['caller']>): Promise<TestCaller> {
    const caller = await super.caller(...facts);
    appendFileSync(secretsFile(), `${caller.key}\n`);
    return caller;
  }

  /**
   * Puts files into the catalog by name, and waits until every app uses the result. Use unique names for files,
   * models and providers; a bad file would keep all changes from being served. A provider without a key gets one.
   */
  async serve(files: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const [, provider] = /^(?:provider: |  "provider": ")([^\s"]+)/m.exec(text) ?? [];
      if (provider !== undefined && !existsSync(this.keyFile(provider)))
        this.giveKey(provider, `${provider}-key`);
      putInPlace(path.join(this.catalog, name), text);
    }
    const served = async () => {
      const wanted = await revisionOf([...builtInDirectories(), this.catalog]);
      const said = await this.sql<{ revision: string; problem: string | null }>(
        'SELECT catalog_revision AS revision, catalog_problem AS problem FROM process',
      );
      const bad = said.find(({ problem }) => problem !== null);
      if (bad) throw new Error(bad.problem ?? '');
      return said.length === this.apps.length && said.every(({ revision }) => revision === wanted);
    };
    await waitFor(served, { withinMs: 60_000, what: 'every app to run the catalog', everyMs: 200 });
  }

  /** Sets the account key of a declared provider; call it before `serve` to choose the key. */
  giveKey(provider: string, key: string): void {
    putInPlace(this.keyFile(provider), key);
    appendFileSync(secretsFile(), `${key}\n`);
  }

  private keyFile(provider: string): string {
    return path.join(this.env()['PROVIDER_KEYS_DIR'] ?? '', provider);
  }

  /** Closes the connections of this process; the system keeps running. */
  async close(): Promise<void> {
    await this.closeConnections();
  }
}

/** Renames the text into place, so that no app reads half a file. */
function putInPlace(file: string, text: string): void {
  const written = path.join(runFolder(), `${process.pid}-${path.basename(file)}`);
  writeFileSync(written, text);
  renameSync(written, file);
}

/** The shared system of a transport; call it in a `describe`. */
export function sharedSystem(transport: TransportKind): SharedSystem {
  const system = new SharedSystem(describedSystem(transport));
  afterAll(() => system.close());
  return system;
}
