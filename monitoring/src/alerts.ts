/** `page` wakes a person, because callers are affected now. `ticket` waits for working hours. */
type Severity = 'page' | 'ticket';

interface Alert {
  name: string;
  expression: string;
  /** How long the expression must be true before the alert fires, as a Prometheus duration. */
  holds: string;
  severity: Severity;
  summary: string;
}

/** The URL at which docs/operations/alerts.md is published, for links to its sections: `RUNBOOKS=https://… npm run monitoring`. */
export const runbooks = process.env['RUNBOOKS'] ?? 'docs/operations/alerts.md';

const calls = 'http_server_request_duration_seconds';
/** Status polls are left out: there are so many that they would hide failures. */
const served = 'route!~".*/status(/stream)?"';
/** Calls that do not wait for a provider. */
const quick = 'route=~".*/requests(/.*)?",route!~".*/stream"';

/** The objectives over 30 days, and the share of calls that may miss each. */
export const objectives = {
  availability: {
    missed: 0.001,
    failed: `${calls}_count{${served},error_type=~"internal_error|service_unavailable"}`,
    all: `${calls}_count{${served}}`,
  },
  latency: { missed: 0.01, inTime: `${calls}_bucket{${quick},le="0.3"}`, all: `${calls}_count{${quick}}` },
} as const;

/** True while errors use up the budget of one call in a thousand more than `times` too fast. */
const burn = (window: string, times: number) => {
  const { failed, all, missed } = objectives.availability;
  return `sum by (error_type) (rate(${failed}[${window}])) / ignoring (error_type) group_left sum(rate(${all}[${window}])) > ${times} * ${missed}`;
};

/** The same for the latency budget: one quick call in a hundred may be slow. */
const slow = (window: string, times: number) => {
  const { inTime, all, missed } = objectives.latency;
  return `1 - sum(rate(${inTime}[${window}])) / sum(rate(${all}[${window}])) > ${times} * ${missed}`;
};

/** Providers that an operator has paused, whose runs are supposed to wait. */
const pausedProviders =
  'label_replace(router_provider_paused{calls="submit",asked_by="operator"}, "queue", "dispatch-$1", "provider", "(.+)")';

/** Every alert has a section in docs/operations/alerts.md, and a test with data that makes it fire and data that does not. */
export const alerts: readonly Alert[] = [
  {
    name: 'RouterAppAbsent',
    // `absent` takes over the labels of a single selector only.
    expression: 'absent(router_build_info{app="gateway"}) or absent(router_build_info{app="worker"})',
    holds: '3m',
    severity: 'page',
    summary: 'Prometheus cannot reach any {{ $labels.app }}.',
  },
  {
    name: 'RouterErrorBudgetBurnsFast',
    expression: `${burn('5m', 14.4)} and ${burn('1h', 14.4)}`,
    holds: '2m',
    severity: 'page',
    summary: '{{ $value | humanizePercentage }} of all calls fail with {{ $labels.error_type }}.',
  },
  {
    name: 'RouterErrorBudgetBurnsSlowly',
    expression: `${burn('30m', 3)} and ${burn('6h', 3)}`,
    holds: '15m',
    severity: 'ticket',
    summary:
      '{{ $value | humanizePercentage }} of all calls have failed with {{ $labels.error_type }} for hours.',
  },
  {
    name: 'RouterLatencyBudgetBurnsFast',
    expression: `${slow('5m', 14.4)} and ${slow('1h', 14.4)}`,
    holds: '2m',
    severity: 'page',
    summary:
      '{{ $value | humanizePercentage }} of the calls that do not wait for a provider take longer than 0.3 s.',
  },
  {
    name: 'RouterLatencyBudgetBurnsSlowly',
    expression: `${slow('30m', 3)} and ${slow('6h', 3)}`,
    holds: '15m',
    severity: 'ticket',
    summary:
      '{{ $value | humanizePercentage }} of the calls that do not wait for a provider have been slow for hours.',
  },
  {
    name: 'RouterConnectionsRefused',
    // These callers appear in no other metric, because their connections never carry a call.
    expression: 'sum by (instance) (rate(router_connections_refused_total[5m])) > 0',
    holds: '2m',
    severity: 'page',
    summary:
      'Gateway {{ $labels.instance }} closes new connections of callers because it has reached MAX_CONNECTIONS.',
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
    summary: 'Jobs are waiting in {{ $labels.queue }}, but no worker takes one.',
  },
  {
    name: 'RouterOutboxOverdue',
    expression: 'max(router_outbox_oldest_age_seconds) > 30',
    holds: '2m',
    severity: 'page',
    summary: 'An outbox row is {{ $value | humanizeDuration }} overdue: no worker takes it.',
  },
  {
    name: 'RouterWebhooksOverdue',
    expression: 'max(router_webhook_oldest_due_seconds) > 60',
    holds: '5m',
    severity: 'ticket',
    summary: 'A webhook is {{ $value | humanizeDuration }} overdue although its receiver has free slots.',
  },
  {
    name: 'RouterCountersDrift',
    expression: 'sum(increase(router_admission_drift_total[1h])) > 0',
    holds: '0m',
    severity: 'page',
    summary: 'The counters of a workspace differ from the runs they count.',
  },
  {
    name: 'RouterDispatchUnknown',
    expression: 'sum by (provider) (increase(router_dispatch_unknown_total[1h])) > 0',
    holds: '0m',
    severity: 'ticket',
    summary:
      'A worker died during a submission to {{ $labels.provider }}, which may charge us; the caller is not billed.',
  },
  {
    name: 'RouterPriceBoundExceeded',
    expression: 'sum by (provider) (increase(router_price_bound_exceeded_total[1h])) > 0',
    holds: '0m',
    severity: 'ticket',
    summary: 'Runs cost more at {{ $labels.provider }} than was reserved, and we pay the difference.',
  },
  {
    name: 'RouterProviderRefusesOurAccount',
    expression: 'sum by (provider) (increase(router_provider_account_errors_total[15m])) > 0',
    holds: '0m',
    severity: 'page',
    summary: '{{ $labels.provider }} rejects our key or balance.',
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
    summary: '{{ $labels.provider }} keeps throttling us with Retry-After.',
  },
  {
    name: 'RouterAssetCopiesFail',
    expression:
      'sum(rate(router_asset_copy_total{outcome!="copied"}[15m])) / sum(rate(router_asset_copy_total[15m])) > 0.2 and sum(increase(router_asset_copy_total[15m])) > 20',
    holds: '15m',
    severity: 'ticket',
    summary:
      '{{ $value | humanizePercentage }} of assets are not copied, so results contain URLs of the provider, which expire.',
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
    summary: 'Polls start {{ $value | humanizeDuration }} late.',
  },
  {
    name: 'RouterReconcilerRequeues',
    expression: 'sum(rate(router_reconciler_requeued_total[10m])) > 1',
    holds: '15m',
    severity: 'ticket',
    summary: 'Jobs get lost: the reconciler enqueues {{ $value | humanize }} runs a second again.',
  },
  {
    name: 'RouterWorkersDie',
    expression: 'sum(increase(router_stalled_jobs_total[15m])) > 5',
    holds: '0m',
    severity: 'ticket',
    summary: 'Workers died or froze, and others took over their jobs.',
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
    summary:
      'The {{ $labels.app }} waits for database connections: the pool {{ $labels.pool }} is exhausted.',
  },
  {
    name: 'RouterEventLoopBlocked',
    expression: 'max by (app, instance) (nodejs_eventloop_lag_p99_seconds) > 0.5',
    holds: '5m',
    severity: 'ticket',
    summary:
      'The event loop of {{ $labels.app }} {{ $labels.instance }} lags by {{ $value | humanizeDuration }}.',
  },
  {
    name: 'RouterClockSkewed',
    expression: 'max by (app, instance) (abs(router_clock_skew_seconds)) > 2',
    holds: '2m',
    severity: 'page',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} is not ready: its clock differs from the database clock by {{ $value | humanizeDuration }}.',
  },
  {
    name: 'RouterCatalogRefused',
    expression: 'max by (app, instance) (router_catalog_refused) > 0',
    holds: '5m',
    severity: 'ticket',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} cannot load CATALOG_DIR and uses an older revision. A restart would fail.',
  },
  {
    name: 'RouterWorkersAtMaximum',
    expression:
      'kube_horizontalpodautoscaler_status_current_replicas{horizontalpodautoscaler="keda-hpa-worker"} >= kube_horizontalpodautoscaler_spec_max_replicas',
    holds: '15m',
    severity: 'ticket',
    summary: 'The scaler has reached its maximum number of workers.',
  },
  {
    name: 'RouterRedisFills',
    expression: 'redis_memory_used_bytes / (redis_memory_max_bytes > 0) > 0.8',
    holds: '5m',
    severity: 'ticket',
    summary: 'Redis uses {{ $value | humanizePercentage }} of its memory. When it is full, it rejects jobs.',
  },
];
