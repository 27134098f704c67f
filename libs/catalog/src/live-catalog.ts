import type { Log, Metrics } from '#observability';
import { milliseconds } from '#schemas';
import { z } from 'zod';
import { type Catalog, catalogOf } from './catalog.js';
import { watchDirectories } from './directory-watch.js';
import { turns } from './catalog-files.js';
import {
  builtInDirectories,
  catalogFrom,
  directoryRevisions,
  joinedRevision,
  readDirectories,
} from './load-catalog.js';
import { forgetSchemas } from './late-schemas.js';
import { areSame, type Model } from './model.js';
import { checkDirectory, type DirectoryRows, readDirectory } from './read-rows.js';

/** The settings of every process that uses the catalog. */
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

/** The result of the last reading of the directories. */
interface CatalogState {
  /** The revision in use. */
  revision: string;
  /** Why the current contents of the directories are not in use. Absent if they are. */
  problem?: string;
}

interface LiveOptions {
  /** The operator's directory. Without it, the catalog is that of the release. */
  directory: string | undefined;
  /**
   * Whether to keep the models, built-in and the operator's. Otherwise the catalog has only providers; an invalid row
   * still makes a directory unusable, so that all processes use the same revision.
   */
  keepsModels: boolean;
  /** More directories to watch, because `prepare` reads them. */
  alsoWatched?: readonly string[];
  everyMs: number;
  /** The time by which prices change. The database's, so that all gateways agree. */
  nowMs?: () => number;
  /** Prepares a revision before it is used. If it throws, the running revision stays in use. */
  prepare?: (next: Catalog) => Promise<void>;
  /** Called after every reading. */
  report: (state: CatalogState) => void;
  log: Log;
  metrics: Metrics;
}

/** The catalog in use by a process. It is replaced as a whole or not at all. */
export class LiveCatalog {
  private problem: string | undefined;
  private renewal: Promise<void> = Promise.resolve();
  private watching: { stop: () => void } | undefined;

  private constructor(
    private catalog: Catalog,
    private readonly release: Release,
    private readonly options: LiveOptions,
  ) {}

  /** Loads the first revision. Throws `BadCatalog`, because a process must not start with an invalid catalog. */
  static async open(options: LiveOptions): Promise<LiveCatalog> {
    // The files of a release do not change, so only the operator's files are read again.
    const release = await readRelease(options.keepsModels);
    return new LiveCatalog(await load(release, options), release, options);
  }

  get current(): Catalog {
    return this.catalog;
  }

  get state(): CatalogState {
    return { revision: this.catalog.revision, ...(this.problem !== undefined && { problem: this.problem }) };
  }

  /** Reports the current revision, and reloads the catalog when a directory changes, until it is closed. */
  watch(): void {
    const { directory, alsoWatched = [], everyMs } = this.options;
    this.report('loaded');
    const directories = [directory ?? [], alsoWatched].flat();
    if (directories.length === 0) return;
    this.watching = watchDirectories(directories, everyMs, () => void this.renew());
  }

  /** Stops watching, and waits for a reload in progress. */
  async close(): Promise<void> {
    this.watching?.stop();
    await this.renewal;
  }

  /**
   * Reads the directories again, after any reading in progress. Never throws: after an invalid edit the running
   * revision stays in use.
   */
  renew(): Promise<void> {
    this.renewal = this.renewal.then(() => this.renewNow());
    return this.renewal;
  }

  private async renewNow(): Promise<void> {
    const { prepare, log } = this.options;
    try {
      const next = await this.keepingUnchanged(await load(this.release, this.options));
      await prepare?.(next);
      const before = this.catalog;
      const isNew = next !== before;
      this.catalog = next;
      const kept = new Set(next.models);
      for (const model of before.models) if (!kept.has(model)) forgetSchemas(model);
      this.problem = undefined;
      this.report(isNew ? 'loaded' : 'unchanged');
      if (isNew) log.info(this.state, 'the catalog was reloaded');
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.report('refused');
      const { revision } = this.catalog;
      log.error(
        { error, revision },
        'the catalog could not be reloaded, so the running revision stays in use',
      );
    }
  }

  /** Keeps the objects of unchanged models, because compiled schemas and documents are cached by them. */
  private async keepingUnchanged(next: Catalog): Promise<Catalog> {
    const before = this.catalog;
    const { nowMs = Date.now } = this.options;
    if (next.revision === before.revision) return before;
    const yieldAtTimes = turns();
    const known = new Map(before.models.map((model) => [model.id, model]));
    const models: Model[] = [];
    for (const model of next.models) {
      await yieldAtTimes();
      const one = known.get(model.id);
      models.push(one !== undefined && areSame(one, model) ? one : model);
    }
    return catalogOf(models, { ...next, nowMs });
  }

  private report(result: 'loaded' | 'unchanged' | 'refused'): void {
    const { metrics, report } = this.options;
    metrics.catalogReadings.inc({ result });
    metrics.catalogRefused.set(Number(result === 'refused'));
    if (result === 'loaded') {
      metrics.catalogLoadedAt.setToCurrentTime();
      metrics.knowProviders(this.catalog.providers.map(({ name }) => name));
    }
    report(this.state);
  }
}

/** The rows of the release that the process uses. */
interface Release {
  rows: readonly DirectoryRows[];
  /** The revisions of the directories, also of a process that uses none of their rows. */
  revisions: readonly string[];
}

async function readRelease(withRows: boolean): Promise<Release> {
  const directories = builtInDirectories();
  if (!withRows) return { rows: [], revisions: await directoryRevisions(directories) };
  const rows = await readDirectories(directories);
  return { rows, revisions: rows.map(({ revision }) => revision) };
}

async function load(
  release: Release,
  { directory, keepsModels, nowMs = Date.now }: Pick<LiveOptions, 'directory' | 'keepsModels' | 'nowMs'>,
): Promise<Catalog> {
  const read = keepsModels ? readDirectory : checkDirectory;
  const own = directory === undefined ? [] : [await read(directory)];
  const revision = joinedRevision([...release.revisions, ...own.map((each) => each.revision)]);
  return catalogFrom([...release.rows, ...own], revision, { nowMs });
}
