/** `page` wakes a person: callers are affected now. `ticket` waits for working hours. */
type Severity = 'page' | 'ticket';

interface Alert {
  name: string;
  expression: string;
  /** For how long the expression must be true, as Prometheus writes durations. */
  holds: string;
  severity: Severity;
  summary: string;
}

/** Where docs/operations/alerts.md is published: `RUNBOOKS=https://… npm run monitoring` makes links of its anchors. */
export const runbooks = process.env['RUNBOOKS'] ?? 'docs/operations/alerts.md';

const calls = 'http_server_request_duration_seconds';
/** Polls of a run's status would hide failures behind their number. */
const served = 'route!~".*/status(/stream)?"';
/** Calls that wait for no provider. */
const quick = 'route=~".*/requests(/.*)?",route!~".*/stream"';

/** What is promised over 30 days, and the share of calls that may miss it. */
export const objectives = {
  availability: {
    missed: 0.001,
    failed: `${calls}_count{${served},error_type=~"internal_error|service_unavailable"}`,
    all: `${calls}_count{${served}}`,
  },
  latency: { missed: 0.01, inTime: `${calls}_bucket{${quick},le="0.3"}`, all: `${calls}_count{${quick}}` },
} as const;

/** True while the error budget of one call in a thousand burns so many times too fast within a window. */
const burn = (window: string, times: number) => {
  const { failed, all, missed } = objectives.availability;
  return `sum by (error_type) (rate(${failed}[${window}])) / ignoring (error_type) group_left sum(rate(${all}[${window}])) > ${times} * ${missed}`;
};

/** The same for the budget of one quick call in a hundred that may be slow. */
const slow = (window: string, times: number) => {
  const { inTime, all, missed } = objectives.latency;
  return `1 - sum(rate(${inTime}[${window}])) / sum(rate(${all}[${window}])) > ${times} * ${missed}`;
};

/** The providers that an operator has paused: their runs are meant to wait. */
const pausedProviders =
  'label_replace(router_provider_paused{calls="submit",asked_by="operator"}, "queue", "dispatch-$1", "provider", "(.+)")';

/** Every alert has a section in docs/operations/alerts.md, and a test with data for which it fires and data for which it does not. */
export const alerts: readonly Alert[] = [
  {
    name: 'RouterAppAbsent',
    // Of a selector alone `absent` takes over the labels.
    expression: 'absent(router_build_info{app="gateway"}) or absent(router_build_info{app="worker"})',
    holds: '3m',
    severity: 'page',
    summary: 'No {{ $labels.app }} answers Prometheus.',
  },
  {
    name: 'RouterErrorBudgetBurnsFast',
    expression: `${burn('5m', 14.4)} and ${burn('1h', 14.4)}`,
    holds: '2m',
    severity: 'page',
    summary: '{{ $value | humanizePercentage }} of all calls end with {{ $labels.error_type }}.',
  },
  {
    name: 'RouterErrorBudgetBurnsSlowly',
    expression: `${burn('30m', 3)} and ${burn('6h', 3)}`,
    holds: '15m',
    severity: 'ticket',
    summary:
      '{{ $value | humanizePercentage }} of all calls have ended with {{ $labels.error_type }} for hours.',
  },
  {
    name: 'RouterLatencyBudgetBurnsFast',
    expression: `${slow('5m', 14.4)} and ${slow('1h', 14.4)}`,
    holds: '2m',
    severity: 'page',
    summary:
      '{{ $value | humanizePercentage }} of the calls that wait for no provider take longer than 0.3 s.',
  },
  {
    name: 'RouterLatencyBudgetBurnsSlowly',
    expression: `${slow('30m', 3)} and ${slow('6h', 3)}`,
    holds: '15m',
    severity: 'ticket',
    summary:
      '{{ $value | humanizePercentage }} of the calls that wait for no provider have been slow for hours.',
  },
  {
    name: 'RouterConnectionsRefused',
    // Nothing else tells of them: they never become calls.
    expression: 'sum by (instance) (rate(router_connections_refused_total[5m])) > 0',
    holds: '2m',
    severity: 'page',
    summary:
      'Gateway {{ $labels.instance }} closes new connections of callers: it has MAX_CONNECTIONS of them.',
  },
  {
    name: 'RouterRunsWaitForWorkers',
    expression: `max by (queue) (router_queue_oldest_job_age_seconds{queue=~"dispatch.*"}) > 120 unless on (queue) ${pausedProviders}`,
    holds: '5m',
    severity: 'page',
    summary: 'A run in {{ $labels.queue }} has waited {{ $value | humanizeDuration }} for a worker.',
  },
  {
    name: 'RouterQueueStalled',
    expression:
      'max by (queue) (router_queue_jobs{state="waiting"}) > 0 unless on (queue) sum by (queue) (rate(router_queue_wait_seconds_count[5m])) > 0',
    holds: '5m',
    severity: 'page',
    summary: 'Jobs wait in {{ $labels.queue }} and no worker takes one.',
  },
  {
    name: 'RouterOutboxOverdue',
    expression: 'max(router_outbox_oldest_age_seconds) > 30',
    holds: '2m',
    severity: 'page',
    summary: 'The outbox is {{ $value | humanizeDuration }} overdue: nobody takes its runs.',
  },
  {
    name: 'RouterWebhooksOverdue',
    expression: 'max(router_webhook_oldest_due_seconds) > 60',
    holds: '5m',
    severity: 'ticket',
    summary: 'A webhook that no receiver holds up is {{ $value | humanizeDuration }} overdue.',
  },
  {
    name: 'RouterCountersDrift',
    expression: 'sum(increase(router_admission_drift_total[1h])) > 0',
    holds: '0m',
    severity: 'page',
    summary: 'Counters of a workspace do not match the runs they count.',
  },
  {
    name: 'RouterDispatchUnknown',
    expression: 'sum by (provider) (increase(router_dispatch_unknown_total[1h])) > 0',
    holds: '0m',
    severity: 'ticket',
    summary: 'A worker died while it submitted to {{ $labels.provider }}: perhaps charged to us, not billed.',
  },
  {
    name: 'RouterPriceBoundExceeded',
    expression: 'sum by (provider) (increase(router_price_bound_exceeded_total[1h])) > 0',
    holds: '0m',
    severity: 'ticket',
    summary: 'Runs cost more at {{ $labels.provider }} than was reserved: we pay the difference.',
  },
  {
    name: 'RouterProviderRefusesOurAccount',
    expression: 'sum by (provider) (increase(router_provider_account_errors_total[15m])) > 0',
    holds: '0m',
    severity: 'page',
    summary: '{{ $labels.provider }} does not accept our key or our balance.',
  },
  {
    name: 'RouterProviderFails',
    expression:
      'sum by (provider) (rate(router_runs_total{error_type=~"provider_error|provider_timeout|service_unavailable"}[10m])) / sum by (provider) (rate(router_runs_total[10m])) > 0.2 and sum by (provider) (increase(router_runs_total[10m])) > 20',
    holds: '10m',
    severity: 'ticket',
    summary: '{{ $labels.provider }} fails {{ $value | humanizePercentage }} of its runs.',
  },
  {
    name: 'RouterProviderThrottles',
    expression: 'sum by (provider) (increase(router_provider_asks_to_wait_total[10m])) > 5',
    holds: '30m',
    severity: 'ticket',
    summary: '{{ $labels.provider }} keeps answering with a Retry-After.',
  },
  {
    name: 'RouterAssetCopiesFail',
    expression:
      'sum(rate(router_asset_copy_total{outcome!="copied"}[15m])) / sum(rate(router_asset_copy_total[15m])) > 0.2 and sum(increase(router_asset_copy_total[15m])) > 20',
    holds: '15m',
    severity: 'ticket',
    summary:
      '{{ $value | humanizePercentage }} of assets are not copied: results hold URLs of the provider, which expire.',
  },
  {
    name: 'RouterStoreFails',
    expression:
      'sum by (op) (rate(router_store_request_duration_seconds_count{result="unavailable"}[10m])) / sum by (op) (rate(router_store_request_duration_seconds_count[10m])) > 0.05',
    holds: '10m',
    severity: 'page',
    summary: 'The asset store fails {{ $value | humanizePercentage }} of its {{ $labels.op }} calls.',
  },
  {
    name: 'RouterPollsLate',
    expression:
      'histogram_quantile(0.99, sum by (le) (rate(router_provider_poll_lateness_seconds_bucket[10m]))) > 5',
    holds: '10m',
    severity: 'ticket',
    summary: 'Polls begin {{ $value | humanizeDuration }} late.',
  },
  {
    name: 'RouterReconcilerRequeues',
    expression: 'sum(rate(router_reconciler_requeued_total[10m])) > 1',
    holds: '15m',
    severity: 'ticket',
    summary: 'The reconciler enqueues {{ $value | humanize }} runs a second again: jobs get lost.',
  },
  {
    name: 'RouterWorkersDie',
    expression: 'sum(increase(router_stalled_jobs_total[15m])) > 5',
    holds: '0m',
    severity: 'ticket',
    summary: 'Jobs were taken over from workers that died or froze.',
  },
  {
    name: 'RouterAdmissionSlow',
    expression:
      'histogram_quantile(0.99, sum by (le) (rate(router_admission_duration_seconds_bucket[5m]))) > 1',
    holds: '5m',
    severity: 'page',
    summary: 'Admissions take {{ $value | humanizeDuration }}.',
  },
  {
    name: 'RouterDatabasePoolExhausted',
    expression: 'max by (app, pool) (avg_over_time(router_database_connections{state="waiting"}[5m])) > 1',
    holds: '5m',
    severity: 'ticket',
    summary: 'Callers in {{ $labels.app }} wait for a connection of the {{ $labels.pool }} pool.',
  },
  {
    name: 'RouterEventLoopBlocked',
    expression: 'max by (app, instance) (nodejs_eventloop_lag_p99_seconds) > 0.5',
    holds: '5m',
    severity: 'ticket',
    summary:
      'The event loop of {{ $labels.app }} {{ $labels.instance }} is {{ $value | humanizeDuration }} late.',
  },
  {
    name: 'RouterClockSkewed',
    expression: 'max by (app, instance) (abs(router_clock_skew_seconds)) > 2',
    holds: '2m',
    severity: 'page',
    summary:
      'The clock of {{ $labels.app }} {{ $labels.instance }} is {{ $value | humanizeDuration }} off the database’s: it is not ready.',
  },
  {
    name: 'RouterCatalogRefused',
    expression: 'max by (app, instance) (router_catalog_refused) > 0',
    holds: '5m',
    severity: 'ticket',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} refused the files of CATALOG_DIR and goes on with an older revision: started again, it would exit.',
  },
  {
    name: 'RouterWorkersAtMaximum',
    expression:
      'kube_horizontalpodautoscaler_status_current_replicas{horizontalpodautoscaler="keda-hpa-worker"} >= kube_horizontalpodautoscaler_spec_max_replicas',
    holds: '15m',
    severity: 'ticket',
    summary: 'The scaler runs as many workers as it may.',
  },
  {
    name: 'RouterRedisFills',
    expression: 'redis_memory_used_bytes / (redis_memory_max_bytes > 0) > 0.8',
    holds: '5m',
    severity: 'ticket',
    summary:
      'Redis has used {{ $value | humanizePercentage }} of its memory; when it is full it refuses jobs.',
  },
];
