import { isDeepStrictEqual } from 'node:util';
import type { Log, Metrics } from '#observability';
import { milliseconds } from '#schemas';
import { z } from 'zod';
import { type Catalog, catalogOf } from './catalog.js';
import { watchDirectories } from './directory-watch.js';
import { builtInDirectories, catalogFrom, revisionOf } from './load-catalog.js';
import { type DirectoryRows, readDirectory } from './read-rows.js';

/** The settings of every process that runs on the catalog. */
export const catalogSettings = {
  CATALOG_DIR: z.string().min(1).optional().meta({
    description:
      'Directory of model rows and provider declarations that add to, replace or hide the built-in ones. It is reloaded when it changes.',
    example: '/etc/model-router/catalog',
  }),
  CATALOG_POLL_MS: milliseconds(
    10_000,
    'Interval at which CATALOG_DIR is checked for changes where file system events are not available, in milliseconds.',
  ),
};

export type CatalogSettings = z.infer<z.ZodObject<typeof catalogSettings>>;

/** How the last reading of the directories went. */
export interface CatalogState {
  /** The revision that runs. */
  revision: string;
  /** Why the directories, as they are now, are not what runs; absent when they are. */
  problem?: string;
}

interface LiveOptions {
  /** The operator's; left out, the catalog is that of the release. */
  directory: string | undefined;
  /** Whether the rows of the release are needed, not only the operator's and the providers. */
  builtInRows: boolean;
  /** Others whose changes matter to `prepare`. */
  alsoWatched?: readonly string[];
  everyMs: number;
  /** Makes a revision ready to run, before it does; when it throws, the running one stays. */
  prepare: (next: Catalog) => Promise<void>;
  /** Told after every reading. */
  report: (state: CatalogState) => void;
  log: Log;
  metrics: Metrics;
}

/** The catalog that a process runs on. It is replaced as a whole, or not at all. */
export class LiveCatalog {
  private problem: string | undefined;
  private renewal: Promise<void> = Promise.resolve();
  private watching: { stop: () => void } | undefined;

  private constructor(
    private catalog: Catalog,
    private readonly release: readonly DirectoryRows[],
    private readonly options: LiveOptions,
  ) {}

  /** Throws `BadCatalog`: a process that has no revision yet does not start with a bad one. */
  static async open(options: LiveOptions): Promise<LiveCatalog> {
    // The files of a release do not change; only the operator's are read again.
    const release = options.builtInRows ? await Promise.all(builtInDirectories().map(readDirectory)) : [];
    return new LiveCatalog(await load(release, options.directory), release, options);
  }

  get current(): Catalog {
    return this.catalog;
  }

  get state(): CatalogState {
    return { revision: this.catalog.revision, ...(this.problem !== undefined && { problem: this.problem }) };
  }

  /** Reports what runs, and renews it when a directory changes, until closed. */
  watch(): void {
    const { directory, alsoWatched = [], everyMs } = this.options;
    this.report('loaded');
    const directories = [directory ?? [], alsoWatched].flat();
    if (directories.length === 0) return;
    this.watching = watchDirectories(directories, everyMs, () => void this.renew());
  }

  /** Resolves when a renewal that is under way has ended. */
  async close(): Promise<void> {
    this.watching?.stop();
    await this.renewal;
  }

  /** Reads the directories again, one reading after the other. Never throws: a bad edit changes nothing that runs. */
  renew(): Promise<void> {
    this.renewal = this.renewal.then(() => this.renewNow());
    return this.renewal;
  }

  private async renewNow(): Promise<void> {
    const { directory, prepare, log } = this.options;
    try {
      const next = keepingUnchanged(await load(this.release, directory), this.catalog);
      await prepare(next);
      const isNew = next !== this.catalog;
      this.catalog = next;
      this.problem = undefined;
      this.report(isNew ? 'loaded' : 'unchanged');
      if (isNew) log.info(this.state, 'the catalog was renewed');
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.report('refused');
      const { revision } = this.catalog;
      log.error({ error, revision }, 'the catalog was not renewed, the running one stays');
    }
  }

  private report(result: 'loaded' | 'unchanged' | 'refused'): void {
    const { metrics, report } = this.options;
    metrics.catalogReadings.inc({ result });
    metrics.catalogRefused.set(Number(result === 'refused'));
    if (result === 'loaded') metrics.catalogLoadedAt.setToCurrentTime();
    report(this.state);
  }
}

async function load(release: readonly DirectoryRows[], directory: string | undefined): Promise<Catalog> {
  const own = directory === undefined ? [] : [directory];
  const revision = await revisionOf([...builtInDirectories(), ...own]);
  return catalogFrom([...release, ...(await Promise.all(own.map(readDirectory)))], revision);
}

/** Models that are as they were stay the same objects: compiled schemas and documents hang on them. */
function keepingUnchanged(next: Catalog, before: Catalog): Catalog {
  if (next.revision === before.revision) return before;
  const models = next.models.map((model) => {
    const known = before.find(model.id);
    return known !== undefined && isDeepStrictEqual(known, model) ? known : model;
  });
  return catalogOf(models, next);
}
