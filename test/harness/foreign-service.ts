import type { OtherTarget } from './prometheus.js';
import { content, ScriptedServer } from './scripted-server.js';

interface Planted {
  series: string;
  start: number;
  /** The growth a minute. */
  grows: number;
}

/** A service of others, in trouble in every way that its standard metrics can show, under labels such as ours. */
export const foreignService: readonly Planted[] = [
  {
    series:
      'http_server_request_duration_seconds_count{app="gateway",route="/checkout/requests",error_type="internal_error"}',
    start: 0,
    grows: 100,
  },
  {
    series:
      'http_server_request_duration_seconds_bucket{app="gateway",route="/checkout/requests",error_type="internal_error",le="0.3"}',
    start: 0,
    grows: 1,
  },
  {
    series:
      'http_server_request_duration_seconds_bucket{app="gateway",route="/checkout/requests",error_type="internal_error",le="+Inf"}',
    start: 0,
    grows: 100,
  },
  { series: 'nodejs_eventloop_lag_p99_seconds{app="worker",instance="a"}', start: 3, grows: 0 },
  { series: 'process_cpu_seconds_total{app="worker",instance="a"}', start: 0, grows: 60 },
  { series: 'process_resident_memory_bytes{app="worker",instance="a"}', start: 8_000_000_000, grows: 0 },
  { series: 'redis_memory_used_bytes', start: 990, grows: 0 },
  { series: 'redis_memory_max_bytes', start: 1000, grows: 0 },
  ...['keda-hpa-worker', 'gateway'].flatMap((name) =>
    ['status_current', 'status_desired', 'spec_max'].map((kind) => ({
      series: `kube_horizontalpodautoscaler_${kind}_replicas{horizontalpodautoscaler="${name}"}`,
      start: 20,
      grows: 0,
    })),
  ),
];

/** Serves the series as `/metrics`; those that grow do so with the time. */
export async function startExporter(planted: readonly Planted[]): Promise<ScriptedServer> {
  const startedMs = performance.now();
  return ScriptedServer.start((...call) => {
    const minutes = (performance.now() - startedMs) / 60_000;
    const lines = planted.map(({ series, start, grows }) => `${series} ${start + grows * minutes}\n`);
    return content('text/plain; version=0.0.4', lines.join(''))(...call);
  });
}

/**
 * The targets of the foreign service: in a namespace of its own, without any label of a place as a Prometheus outside
 * Kubernetes has it, and a process that cannot be scraped.
 */
export const foreignTargets = ({ host }: ScriptedServer): OtherTarget[] => [
  { host, labels: { namespace: 'shop', cluster: 'eu' } },
  { host, labels: { job: 'others-without-a-place' } },
  { host: '127.0.0.1:1', labels: { namespace: 'shop', cluster: 'eu', app: 'gateway' } },
];
