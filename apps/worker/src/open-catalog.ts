import { LiveCatalog } from '#catalog';
import type { Log, Metrics } from '#observability';
import type { ProcessRecord } from '#persistence';
import type { Providers } from './providers.js';
import type { WorkerSettings } from './settings.js';

/** The catalog as a worker needs it: for its providers. Their keys are read again together with it. */
export async function openCatalog(
  settings: WorkerSettings,
  providers: Providers,
  record: ProcessRecord,
  metrics: Metrics,
  log: Log,
): Promise<LiveCatalog> {
  const { CATALOG_DIR, CATALOG_POLL_MS, PROVIDER_KEYS_DIR } = settings;
  const catalog = await LiveCatalog.open({
    directory: CATALOG_DIR,
    // Of every run it gets the row's facts with it.
    builtInRows: false,
    alsoWatched: PROVIDER_KEYS_DIR === undefined ? [] : [PROVIDER_KEYS_DIR],
    everyMs: CATALOG_POLL_MS,
    prepare: async (next) => providers.bind(next),
    report: (state) => record.say(state),
    log,
    metrics,
  });
  providers.bind(catalog.current);
  return catalog;
}
