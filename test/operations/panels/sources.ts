import { callSources } from './call-sources.js';
import type { Source } from './known.js';
import { processSources } from './process-sources.js';
import { providerSources } from './provider-sources.js';
import { queueSources } from './queue-sources.js';

/** Each chart of each dashboard with a second source of its values. */
export const sources: Record<string, Source> = {
  ...callSources,
  ...queueSources,
  ...providerSources,
  ...processSources,
};
