import type { Alert } from './alert.js';
import { atMaximum, gatewayAutoscaler, workerAutoscaler } from './autoscalers.js';
import { budgetAlerts } from './objectives.js';

/** Providers that an operator has paused, whose runs are supposed to wait. */
const pausedProviders =
  'label_replace(router_provider_paused{calls="submit",asked_by="operator"}, "queue", "dispatch-$1", "provider", "(.+)")';

/** A day and two hours: the schedule of base backups is daily. */
const maxBackupAgeSeconds = 26 * 3600;

/**
 * True while no process of an app is ready, also when none is left: then the environment is known from the series of
 * the last day. If no process has been seen for a day, `absent_over_time` fires without an environment.
 */
const noneReady = (app: 'gateway' | 'worker') =>
  `count(count_over_time(router_ready[1d])) unless on () max(router_ready{app="${app}"}) == 1 or absent_over_time(router_ready[1d])`;

/** Leaves out what only echoes an outage: windows of minutes still show it after all processes are ready again. */
const notAfterOutage = (expression: string) =>
  `${expression} unless on () max(max_over_time(ALERTS{alertname=~"RouterNo(Gateway|Worker)Ready",alertstate="firing"}[20m])) > 0`;

const restarts = 'max by (app, instance) (changes(router_process_start_time_seconds[30m]))';
const ready = 'sum by (app) (router_ready)';
const storeCalls = 'router_store_request_duration_seconds_count';

/** Every alert has a section in docs/operations/alerts.md, and a test with data that makes it fire and data that does not. */
export const alerts: readonly Alert[] = [
  {
    name: 'RouterNoGatewayReady',
    expression: noneReady('gateway'),
    holds: '1m',
    severity: 'page',
    dashboard: 'infrastructure',
    summary: 'No gateway is ready, so callers get no answer.',
  },
  {
    name: 'RouterNoWorkerReady',
    expression: noneReady('worker'),
    holds: '1m',
    severity: 'page',
    dashboard: 'infrastructure',
    summary: 'No worker is ready: runs are admitted and wait.',
  },
  {
    name: 'RouterFewerReady',
    // A quarter of the time at the lowest number of a scaler makes that number the usual one.
    expression: `(${ready} > 0) < quantile_over_time(0.25, (${ready})[2d:10m] offset 30m)`,
    holds: '30m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary: 'Only {{ $value }} processes of the {{ $labels.app }} are ready, fewer than usual.',
  },
  {
    name: 'RouterProcessRestarts',
    expression: `${restarts} > 3`,
    holds: '0m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} has started {{ $value }} times again within half an hour.',
  },
  {
    name: 'RouterProcessKeepsRestarting',
    expression: `${restarts} > 10`,
    holds: '0m',
    severity: 'page',
    dashboard: 'infrastructure',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} has started {{ $value }} times again within half an hour.',
  },
  ...budgetAlerts,
  {
    name: 'RouterConnectionsRefused',
    // These callers appear in no other metric, because their connections never carry a call.
    expression: 'sum by (instance) (rate(router_connections_refused_total[5m])) > 0',
    holds: '2m',
    severity: 'page',
    dashboard: 'overview',
    summary:
      'Gateway {{ $labels.instance }} closes new connections of callers because it has reached MAX_CONNECTIONS.',
  },
  {
    name: 'RouterRunsWaitForWorkers',
    // While a worker holds a run for its next try, the run does not wait, which must not start the time again.
    expression: `max by (queue) (max_over_time(router_queue_oldest_job_age_seconds{queue=~"dispatch.*"}[2m])) > 120 unless on (queue) ${pausedProviders}`,
    holds: '5m',
    severity: 'page',
    dashboard: 'queues',
    summary: 'A run in {{ $labels.queue }} has waited {{ $value | humanizeDuration }} for a worker.',
  },
  {
    name: 'RouterQueueStalled',
    expression:
      'max by (queue) (router_queue_jobs{state="waiting"}) > 0 unless on (queue) sum by (queue) (rate(router_queue_wait_seconds_count[5m])) > 0',
    holds: '5m',
    severity: 'page',
    dashboard: 'queues',
    summary: 'Jobs are waiting in {{ $labels.queue }}, but no worker takes one.',
  },
  {
    name: 'RouterOutboxOverdue',
    expression: 'max(router_outbox_oldest_age_seconds) > 30',
    holds: '2m',
    severity: 'page',
    dashboard: 'queues',
    summary: 'An outbox row is {{ $value | humanizeDuration }} overdue: no worker takes it.',
  },
  {
    name: 'RouterWebhooksOverdue',
    expression: 'max(router_webhook_oldest_due_seconds) > 60',
    holds: '5m',
    severity: 'ticket',
    dashboard: 'queues',
    summary: 'A webhook is {{ $value | humanizeDuration }} overdue although its receiver has free slots.',
  },
  {
    name: 'RouterCountersDrift',
    expression: 'sum(increase(router_admission_drift_total[1h])) > 0',
    holds: '0m',
    severity: 'page',
    dashboard: 'money',
    summary: 'The counters of a workspace differ from the runs they count.',
  },
  {
    name: 'RouterDispatchUnknown',
    expression: 'sum by (provider) (increase(router_dispatch_unknown_total[1h])) > 0',
    holds: '0m',
    severity: 'ticket',
    dashboard: 'money',
    summary:
      'A worker ended before it saved the outcome of a submission to {{ $labels.provider }}, which may charge us; the caller is not billed.',
  },
  {
    name: 'RouterPriceBoundExceeded',
    // A series that begins within the hour has no increase, so its sum counts.
    expression:
      'sum by (provider, model) (increase(router_provider_overshoot_dollars_total[1h]) > 0 or (router_provider_overshoot_dollars_total unless router_provider_overshoot_dollars_total offset 1h)) > 0',
    holds: '0m',
    severity: 'ticket',
    dashboard: 'money',
    summary:
      'Runs of {{ $labels.model }} cost more at {{ $labels.provider }} than they can be billed. In the last hour we lost about {{ $value | printf "%.4f" }} dollars.',
  },
  {
    name: 'RouterProviderRefusesOurAccount',
    // The state names the trouble and ends with the next accepted call; the count keeps one odd reply from paging. Other
    // models of the provider may be accepted meanwhile, and a process that cannot reach the database reports no state.
    expression:
      'max by (provider, state) (max_over_time(router_provider_state{state=~"key_rejected|no_balance"}[5m])) > 0 and on (provider) sum by (provider) (increase(router_provider_account_errors_total[1h])) > 2',
    holds: '0m',
    severity: 'page',
    dashboard: 'providers',
    summary:
      '{{ $labels.provider }} {{ if eq $labels.state "no_balance" }}reports that our balance is used up{{ else }}rejects our key{{ end }}.',
  },
  {
    name: 'RouterProviderKeyLeft',
    expression: 'max by (provider, key) (max_over_time(router_provider_key_state{state="left"}[5m])) > 0',
    holds: '0m',
    severity: 'ticket',
    dashboard: 'providers',
    summary: '{{ $labels.provider }} rejected the key {{ $labels.key }}, and its other keys carry the runs.',
  },
  {
    name: 'RouterProviderFails',
    expression:
      'sum by (provider) (rate(router_runs_total{error_type=~"provider_error|provider_timeout|service_unavailable"}[10m])) / sum by (provider) (rate(router_runs_total[10m])) > 0.2 and sum by (provider) (increase(router_runs_total[10m])) > 20',
    holds: '10m',
    severity: 'ticket',
    dashboard: 'providers',
    summary: '{{ $labels.provider }} fails {{ $value | humanizePercentage }} of its runs.',
  },
  {
    name: 'RouterProviderThrottles',
    expression: 'sum by (provider) (increase(router_provider_asks_to_wait_total[10m])) > 5',
    holds: '30m',
    severity: 'ticket',
    dashboard: 'providers',
    summary: '{{ $labels.provider }} keeps throttling us with Retry-After.',
  },
  {
    name: 'RouterProviderSurprises',
    // One odd reply may come from a proxy. A changed interface answers like that again and again.
    expression: 'sum by (provider, kind) (increase(router_provider_surprises_total[6h])) > 2',
    holds: '0m',
    severity: 'ticket',
    dashboard: 'providers',
    summary: '{{ $labels.provider }} sends replies that its declaration does not expect: {{ $labels.kind }}.',
  },
  {
    name: 'RouterAssetCopiesFail',
    expression:
      'sum(rate(router_asset_copy_total{outcome!="copied"}[15m])) / sum(rate(router_asset_copy_total[15m])) > 0.2 and sum(increase(router_asset_copy_total[15m])) > 20',
    holds: '15m',
    severity: 'ticket',
    dashboard: 'assets',
    summary:
      '{{ $value | humanizePercentage }} of assets are not copied, so results contain URLs of the provider, which expire.',
  },
  {
    name: 'RouterStoreFails',
    expression: `sum by (op) (rate(${storeCalls}{result="unavailable"}[10m])) / sum by (op) (rate(${storeCalls}[10m])) > 0.05`,
    holds: '10m',
    severity: 'page',
    dashboard: 'assets',
    summary: 'The asset store fails {{ $value | humanizePercentage }} of its {{ $labels.op }} calls.',
  },
  {
    name: 'RouterStoreDown',
    // Few calls may fail by chance, and an object that is missing shows that the store answers.
    expression: `sum by (op) (increase(${storeCalls}{result="unavailable"}[2m])) > 5 unless on (op) sum by (op) (increase(${storeCalls}{result!="unavailable"}[2m])) > 0`,
    holds: '0m',
    severity: 'page',
    dashboard: 'assets',
    summary: 'The asset store has answered no {{ $labels.op }} call for two minutes.',
  },
  {
    name: 'RouterInputsUnread',
    // A run tries 20 times within minutes. A store that is away for everybody has its own alert.
    expression: 'sum by (reason) (increase(router_inputs_unread_total[10m])) > 5',
    holds: '0m',
    severity: 'ticket',
    dashboard: 'assets',
    summary: 'Workers cannot read the input of runs ({{ $labels.reason }}), so the runs wait and then fail.',
  },
  {
    name: 'RouterPollsLate',
    expression: notAfterOutage(
      'histogram_quantile(0.99, sum by (le) (rate(router_provider_poll_lateness_seconds_bucket[10m]))) > 5',
    ),
    holds: '10m',
    severity: 'ticket',
    dashboard: 'queues',
    summary: 'Polls start {{ $value | humanizeDuration }} late.',
  },
  {
    name: 'RouterReconcilerRequeues',
    expression: 'sum(rate(router_reconciler_requeued_total[10m])) > 1',
    holds: '15m',
    severity: 'ticket',
    dashboard: 'queues',
    summary: 'Jobs get lost: the reconciler enqueues {{ $value | humanize }} runs a second again.',
  },
  {
    name: 'RouterWorkersDie',
    expression: 'sum(increase(router_stalled_jobs_total[15m])) > 5',
    holds: '0m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary: 'Workers died or froze, and others took over their jobs.',
  },
  {
    name: 'RouterAdmissionSlow',
    expression:
      'histogram_quantile(0.99, sum by (le) (rate(router_admission_duration_seconds_bucket[5m]))) > 1',
    holds: '5m',
    severity: 'page',
    dashboard: 'infrastructure',
    summary: 'Admissions take {{ $value | humanizeDuration }}.',
  },
  {
    name: 'RouterDatabasePoolExhausted',
    expression: notAfterOutage(
      'max by (app, pool) (avg_over_time(router_database_connections{state="waiting"}[5m])) > 1',
    ),
    holds: '5m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary:
      'The {{ $labels.app }} waits for database connections: the pool {{ $labels.pool }} is exhausted.',
  },
  {
    name: 'RouterEventLoopBlocked',
    expression: 'max by (app, instance) (router_nodejs_eventloop_lag_p99_seconds) > 0.5',
    holds: '5m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary:
      'The event loop of {{ $labels.app }} {{ $labels.instance }} lags by {{ $value | humanizeDuration }}.',
  },
  {
    name: 'RouterClockSkewed',
    expression: 'max by (app, instance) (abs(router_clock_skew_seconds)) > 2',
    holds: '2m',
    severity: 'page',
    dashboard: 'infrastructure',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} is not ready: its clock differs from the database clock by {{ $value | humanizeDuration }}.',
  },
  {
    name: 'RouterCatalogRefused',
    expression: 'max by (app, instance) (router_catalog_refused) > 0',
    holds: '5m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} cannot load CATALOG_DIR and uses an older revision. A restart would fail.',
  },
  {
    name: 'RouterWorkersAtMaximum',
    expression: atMaximum(workerAutoscaler),
    holds: '15m',
    severity: 'ticket',
    dashboard: 'queues',
    summary: 'The scaler has reached its maximum number of workers.',
  },
  {
    name: 'RouterGatewaysAtMaximum',
    expression: atMaximum(gatewayAutoscaler),
    holds: '15m',
    severity: 'ticket',
    dashboard: 'overview',
    summary: 'The autoscaler has reached its maximum number of gateways.',
  },
  {
    name: 'RouterRedisFills',
    expression: 'redis_memory_used_bytes / (redis_memory_max_bytes > 0) > 0.8',
    holds: '5m',
    severity: 'ticket',
    dashboard: 'queues',
    summary: 'Redis uses {{ $value | humanizePercentage }} of its memory. When it is full, it rejects jobs.',
  },
  {
    name: 'RouterProviderPausedForHours',
    // A process that cannot reach the database reports no pauses, so this looks back over short gaps.
    expression:
      'max by (provider, calls) (max_over_time(router_provider_paused{asked_by="operator"}[15m])) > 0',
    holds: '4h',
    severity: 'ticket',
    dashboard: 'providers',
    summary:
      'An operator paused {{ $labels.calls }} calls to {{ $labels.provider }} more than four hours ago.',
  },
  {
    name: 'RouterWebhooksGivenUp',
    expression: 'sum(increase(router_webhooks_given_up_total[1h])) > 20',
    holds: '0m',
    severity: 'ticket',
    dashboard: 'queues',
    summary:
      '{{ $value | humanize }} webhooks were given up within an hour, after their last attempt failed.',
  },
  {
    name: 'RouterRetentionFails',
    expression: 'sum(increase(router_retention_failures_total[15m])) > 0',
    holds: '1h',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary: 'Retention has failed for an hour.',
  },
  {
    name: 'RouterLogLinesDropped',
    expression: 'sum by (app, instance) (increase(router_log_lines_dropped_total[10m])) > 0',
    holds: '10m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary:
      'The {{ $labels.app }} {{ $labels.instance }} drops log lines, because nothing reads them fast enough.',
  },
  {
    name: 'RouterTransactionOpenForLong',
    expression: 'max(router_database_oldest_transaction_seconds) > 3600',
    holds: '10m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary:
      'A transaction has been open for {{ $value | humanizeDuration }}, so Postgres keeps all dead rows since.',
  },
  {
    name: 'RouterBackupOverdue',
    expression: `time() - max(router_last_backup_timestamp_seconds) > ${maxBackupAgeSeconds}`,
    holds: '10m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary: 'The last backup of the database was complete {{ $value | humanizeDuration }} ago.',
  },
  {
    name: 'RouterBackupLogStopped',
    expression: 'max(router_backup_log_streaming) == 0',
    holds: '5m',
    severity: 'ticket',
    dashboard: 'infrastructure',
    summary:
      'The write-ahead log is not streamed to the backups: changes since then are in no backup, and Postgres keeps the log on its disk.',
  },
];
