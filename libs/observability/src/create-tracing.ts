import type { TracingSettings } from './settings.js';
import { noTracing, type Tracing } from './tracing.js';

/** Off unless a collector is named. */
export async function createTracing(app: string, settings: TracingSettings): Promise<Tracing> {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return noTracing;
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing(app, endpoint);
}
