import type { Series } from './promtool.js';

/** The samples come one per minute: `0+1x60` counts up for an hour. */
interface Case {
  /** When the alert is evaluated. */
  at: string;
  fires: Series;
  rests: Series;
}

const calls = (failing: string, succeeding: string): Series => ({
  'router_http_server_request_duration_seconds_count{error_type="internal_error"}': failing,
  'router_http_server_request_duration_seconds_count{error_type=""}': succeeding,
  // Status polls: they do not fail, and must not hide other failures.
  'router_http_server_request_duration_seconds_count{error_type="",route="/v2/models/:provider/:model/requests/:requestId/status"}':
    '0+100000x60',
});
const quickCalls = (inTime: string, all: string): Series => {
  const route = 'route="/v2/models/:provider/:model/requests"';
  return {
    [`router_http_server_request_duration_seconds_bucket{${route},le="0.3"}`]: inTime,
    [`router_http_server_request_duration_seconds_count{${route}}`]: all,
  };
};
const late = (metric: string, inTime: string, all: string): Series => ({
  [`${metric}_bucket{le="0.5"}`]: inTime,
  [`${metric}_bucket{le="10"}`]: all,
  [`${metric}_bucket{le="+Inf"}`]: all,
});

const autoscaler = (name: string, replicas: string): Series => ({
  [`kube_horizontalpodautoscaler_status_current_replicas{horizontalpodautoscaler="${name}"}`]: replicas,
  [`kube_horizontalpodautoscaler_spec_max_replicas{horizontalpodautoscaler="${name}"}`]: '20x30',
  router_build_info: '1x30',
});

/** For each alert a case that fires it, and a similar one that must not. */
export const alertCases: Record<string, Case> = {
  RouterNoGatewayReady: {
    at: '10m',
    // All processes of the app are gone. The others are only known from the past, or still ready.
    fires: {
      'router_ready{app="gateway",instance="a"}': '1x2 stale',
      'router_ready{app="gateway",instance="b"}': '1x2 0x3 stale',
      'router_ready{app="worker"}': '1x20',
    },
    rests: {
      'router_ready{app="gateway",instance="a"}': '1x2 stale',
      'router_ready{app="gateway",instance="b"}': '0x20',
      'router_ready{app="gateway",instance="c"}': '1x20',
    },
  },
  RouterNoWorkerReady: {
    at: '10m',
    fires: {
      'router_ready{app="worker",instance="a"}': '1x2 stale',
      'router_ready{app="worker",instance="b"}': '1x2 0x3 stale',
      'router_ready{app="gateway"}': '1x20',
    },
    rests: {
      'router_ready{app="worker",instance="a"}': '1x2 stale',
      'router_ready{app="worker",instance="b"}': '0x20',
      'router_ready{app="worker",instance="c"}': '1x20',
    },
  },
  RouterFewerReady: {
    at: '5h',
    fires: {
      'router_ready{app="gateway",instance="a"}': '1x320',
      'router_ready{app="gateway",instance="b"}': '1x240 stale',
      'router_ready{app="worker",instance="c"}': '1x320',
    },
    rests: {
      // A scaler took the third away, as for a third of the time before.
      'router_ready{app="worker",instance="a"}': '1x320',
      'router_ready{app="worker",instance="b"}': '1x80 stale _x80 1x80 stale',
      // All are gone, which is another alert.
      'router_ready{app="gateway",instance="c"}': '1x240 0x80',
      // A rollout.
      'router_ready{app="gateway",instance="d"}': '1x290 0x10 1x20',
    },
  },
  RouterProcessRestarts: {
    at: '40m',
    fires: {
      'router_process_start_time_seconds{app="gateway",instance="a"}': '1x20 2x2 3x2 4x2 5x30',
    },
    rests: {
      'router_process_start_time_seconds{app="gateway",instance="a"}': '1x15 2x10 3x10 4x30',
      'router_process_start_time_seconds{app="gateway",instance="b"}': '1x15 2x10 3x10 4x30',
    },
  },
  RouterProcessKeepsRestarting: {
    at: '40m',
    fires: { 'router_process_start_time_seconds{app="worker",instance="a"}': '1x20 2+1x11 13x20' },
    rests: { 'router_process_start_time_seconds{app="worker",instance="a"}': '1x20 2+1x8 11x20' },
  },
  RouterErrorBudgetBurnsFast: {
    at: '30m',
    fires: calls('0+2x30', '0+98x30'),
    rests: calls('0+1x30', '0+999x30'),
  },
  RouterErrorBudgetBurnsSlowly: {
    at: '1h',
    fires: calls('0+5x60', '0+995x60'),
    rests: calls('0+1x60', '0+999x60'),
  },
  RouterLatencyBudgetBurnsFast: {
    at: '30m',
    fires: quickCalls('0+80x30', '0+100x30'),
    rests: quickCalls('0+99x30', '0+100x30'),
  },
  RouterLatencyBudgetBurnsSlowly: {
    at: '1h',
    fires: quickCalls('0+95x60', '0+100x60'),
    rests: quickCalls('0+99x60', '0+100x60'),
  },
  RouterConnectionsRefused: {
    at: '20m',
    fires: { 'router_connections_refused_total{instance="a"}': '0x10 3+3x10' },
    rests: { 'router_connections_refused_total{instance="a"}': '70x20' },
  },
  RouterRunsWaitForWorkers: {
    at: '20m',
    fires: {
      // A run that is tried again and again: it does not wait while a worker holds it.
      'router_queue_oldest_job_age_seconds{queue="dispatch-fal"}':
        '0 60 120 180 stale 300 360 stale 480 540 stale 660 stale 780 840 stale 960 stale 1080 1140 1200',
    },
    rests: {
      'router_queue_oldest_job_age_seconds{queue="dispatch-fal"}': '119x20',
      'router_queue_oldest_job_age_seconds{queue="parked"}': '0+60x20',
      // An operator paused this provider, so its runs wait on purpose.
      'router_queue_oldest_job_age_seconds{queue="dispatch-bfl"}': '0+30x20',
      'router_provider_paused{provider="bfl",calls="submit",asked_by="operator"}': '1x20',
    },
  },
  RouterQueueStalled: {
    at: '20m',
    fires: {
      'router_queue_jobs{queue="poll",state="waiting"}': '5x20',
      'router_queue_wait_seconds_count{queue="poll"}': '100x20',
    },
    rests: {
      'router_queue_jobs{queue="poll",state="waiting"}': '5x20',
      'router_queue_wait_seconds_count{queue="poll"}': '0+10x20',
    },
  },
  RouterOutboxOverdue: {
    at: '10m',
    fires: { router_outbox_oldest_age_seconds: '0+20x10' },
    rests: { router_outbox_oldest_age_seconds: '3x10' },
  },
  RouterWebhooksOverdue: {
    at: '15m',
    fires: { router_webhook_oldest_due_seconds: '120x20' },
    rests: { router_webhook_oldest_due_seconds: '30x20' },
  },
  RouterCountersDrift: {
    at: '30m',
    fires: { router_admission_drift_total: '0x10 2x20' },
    rests: { router_admission_drift_total: '0x30' },
  },
  RouterDispatchUnknown: {
    at: '30m',
    fires: { 'router_dispatch_unknown_total{provider="bfl"}': '0x10 1x20' },
    rests: { 'router_dispatch_unknown_total{provider="bfl"}': '3x30' },
  },
  RouterPriceBoundExceeded: {
    at: '90m',
    fires: {
      'router_provider_overshoot_dollars_total{provider="bfl",model="bfl/flux-2-pro"}': '_x80 0.07x20',
    },
    rests: { 'router_provider_overshoot_dollars_total{provider="bfl",model="bfl/flux-2-pro"}': '3x100' },
  },
  RouterProviderRefusesOurAccount: {
    at: '12m',
    fires: {
      'router_provider_account_errors_total{provider="bfl"}': '0x5 1 2 4x10',
      'router_provider_state{provider="bfl",state="key_rejected"}': '_x5 1x12',
    },
    rests: {
      // Rejections that ended: another call was accepted more than five minutes ago.
      'router_provider_account_errors_total{provider="bfl"}': '0 5 7x15',
      'router_provider_state{provider="bfl",state="key_rejected"}': '_ 1x5 stale _x12',
      'router_provider_state{provider="bfl",state="ready"}': '_x6 1x12',
      // A single rejection.
      'router_provider_account_errors_total{provider="fal"}': '0x5 1x10',
      'router_provider_state{provider="fal",state="no_balance"}': '_x5 1x12',
    },
  },
  RouterProviderKeyLeft: {
    at: '12m',
    fires: { 'router_provider_key_state{provider="bfl",key="main",state="left"}': '0x5 1x10' },
    rests: {
      'router_provider_key_state{provider="bfl",key="main",state="left"}': '1x3 0x12',
      'router_provider_key_state{provider="bfl",key="spare",state="cooling"}': '1x15',
    },
  },
  RouterProviderFails: {
    at: '40m',
    fires: {
      'router_runs_total{provider="fal",error_type="provider_error"}': '0+5x40',
      'router_runs_total{provider="fal",error_type=""}': '0+5x40',
    },
    rests: {
      'router_runs_total{provider="fal",error_type="content_policy_violation"}': '0+50x40',
      'router_runs_total{provider="fal",error_type="provider_error"}': '0+1x40',
      'router_runs_total{provider="fal",error_type=""}': '0+50x40',
      // Half of them fail, but they are too few to mean anything.
      'router_runs_total{provider="bfl",error_type="provider_error"}': '0x20 1x20',
      'router_runs_total{provider="bfl",error_type=""}': '0x20 1x20',
    },
  },
  RouterProviderThrottles: {
    at: '1h',
    fires: { 'router_provider_asks_to_wait_total{provider="bfl",calls="submit"}': '0+2x60' },
    rests: { 'router_provider_asks_to_wait_total{provider="bfl",calls="submit"}': '0x20 40x40' },
  },
  RouterProviderSurprises: {
    at: '7h',
    fires: { 'router_provider_surprises_total{provider="bfl",kind="unknown_status"}': '0x300 1+1x120' },
    rests: {
      // Two odd replies of one kind, and one of another.
      'router_provider_surprises_total{provider="bfl",kind="unknown_error"}': '0x200 1x100 2x120',
      'router_provider_surprises_total{provider="bfl",kind="missing_cost"}': '0x200 1x220',
      // The three are older than six hours.
      'router_provider_surprises_total{provider="fal",kind="unreadable"}': '0x10 3x410',
    },
  },
  RouterAssetCopiesFail: {
    at: '40m',
    fires: {
      'router_asset_copy_total{outcome="copied"}': '0+5x40',
      'router_asset_copy_total{outcome="status"}': '0+1x40',
      'router_asset_copy_total{outcome="store"}': '0+2x40',
    },
    rests: {
      'router_asset_copy_total{outcome="copied"}': '0+9x40',
      'router_asset_copy_total{outcome="timeout"}': '0+1x40',
    },
  },
  RouterStoreFails: {
    at: '30m',
    fires: {
      'router_store_request_duration_seconds_count{op="put",result="ok"}': '0+9x30',
      'router_store_request_duration_seconds_count{op="put",result="unavailable"}': '0+1x30',
      'router_store_request_duration_seconds_count{op="get",result="ok"}': '0+9x30',
    },
    rests: {
      'router_store_request_duration_seconds_count{op="put",result="ok"}': '0+99x30',
      'router_store_request_duration_seconds_count{op="put",result="unavailable"}': '0+1x30',
      // A provider whose bodies break off, and requests for results that have expired.
      'router_store_request_duration_seconds_count{op="put",result="cut_short"}': '0+50x30',
      'router_store_request_duration_seconds_count{op="get",result="not_found"}': '0+50x30',
    },
  },
  RouterStoreDown: {
    at: '15m',
    fires: {
      'router_store_request_duration_seconds_count{op="put",result="ok"}': '0+9x10 90x10',
      'router_store_request_duration_seconds_count{op="put",result="unavailable"}': '0x10 9+9x10',
      'router_store_request_duration_seconds_count{op="get",result="ok"}': '0+9x20',
    },
    rests: {
      'router_store_request_duration_seconds_count{op="put",result="ok"}': '0+9x20',
      'router_store_request_duration_seconds_count{op="put",result="unavailable"}': '0x10 9+9x10',
      // The store answers that an object is missing.
      'router_store_request_duration_seconds_count{op="get",result="not_found"}': '0+1x20',
      'router_store_request_duration_seconds_count{op="get",result="unavailable"}': '0x10 9+9x10',
      'router_store_request_duration_seconds_count{op="delete",result="unavailable"}': '0x13 1x10',
    },
  },
  RouterInputsUnread: {
    at: '15m',
    fires: { 'router_inputs_unread_total{reason="not_found"}': '0x5 0+1x15' },
    rests: { 'router_inputs_unread_total{reason="not_found"}': '0x5 1 2 3 4 5x20' },
  },
  RouterPollsLate: {
    at: '30m',
    fires: late('router_provider_poll_lateness_seconds', '0+50x30', '0+100x30'),
    rests: {
      ...late('router_provider_poll_lateness_seconds', '0+50x30', '0+100x30'),
      // The workers were not ready until ten minutes ago.
      'router_ready{app="worker",instance="a"}': '1x4 0x14 1x20',
      'router_ready{app="gateway",instance="b"}': '1x40',
    },
  },
  RouterReconcilerRequeues: {
    at: '40m',
    fires: { 'router_reconciler_requeued_total{queue="dispatch"}': '0+120x40' },
    rests: { 'router_reconciler_requeued_total{queue="dispatch"}': '0+6x40' },
  },
  RouterWorkersDie: {
    at: '20m',
    fires: { 'router_stalled_jobs_total{queue="poll"}': '0x10 30x10' },
    rests: { 'router_stalled_jobs_total{queue="poll"}': '0x10 2x10' },
  },
  RouterAdmissionSlow: {
    at: '20m',
    fires: late('router_admission_duration_seconds', '0+50x20', '0+100x20'),
    rests: late('router_admission_duration_seconds', '0+100x20', '0+100x20'),
  },
  RouterDatabasePoolExhausted: {
    at: '20m',
    fires: { 'router_database_connections{app="gateway",pool="work",state="waiting"}': '9x20' },
    rests: {
      'router_database_connections{app="gateway",pool="work",state="waiting"}':
        '0 4 0 0 0 0 0 2 0 0 0 0 0 1 0 0 0 0 0 0',
      'router_database_connections{app="worker",pool="work",state="waiting"}': '9x20',
      'router_ready{app="worker",instance="a"}': '1x2 0x9 1x10',
      'router_ready{app="gateway",instance="b"}': '1x20',
      'router_database_connections{app="gateway",pool="work",state="busy"}': '8x20',
    },
  },
  RouterEventLoopBlocked: {
    at: '10m',
    fires: { 'router_nodejs_eventloop_lag_p99_seconds{app="worker",instance="a"}': '1.2x10' },
    rests: { 'router_nodejs_eventloop_lag_p99_seconds{app="worker",instance="a"}': '0.02 0.02 2 0.02x10' },
  },
  RouterClockSkewed: {
    at: '10m',
    fires: { 'router_clock_skew_seconds{app="worker",instance="a"}': '-3x20' },
    rests: { 'router_clock_skew_seconds{app="worker",instance="a"}': '1.5x20' },
  },
  RouterCatalogRefused: {
    at: '20m',
    fires: {
      'router_catalog_refused{app="worker",instance="a"}': '0x10 1x10',
      'router_catalog_refused{app="worker",instance="b"}': '0x20',
    },
    // An edit that was fixed at once.
    rests: { 'router_catalog_refused{app="worker",instance="a"}': '0x10 1 1 0x10' },
  },
  RouterWorkersAtMaximum: {
    at: '30m',
    fires: { ...autoscaler('worker', '19x30'), ...autoscaler('keda-hpa-worker', '20x30') },
    rests: { ...autoscaler('foreign-worker', '20x30'), ...autoscaler('worker', '19x30') },
  },
  RouterGatewaysAtMaximum: {
    at: '30m',
    fires: autoscaler('gateway', '20x30'),
    rests: autoscaler('gateway', '19x30'),
  },
  RouterRedisFills: {
    at: '10m',
    fires: {
      redis_memory_used_bytes: '900x10',
      redis_memory_max_bytes: '1000x10',
      router_build_info: '1x10',
    },
    rests: { redis_memory_used_bytes: '900x10', redis_memory_max_bytes: '0x10', router_build_info: '1x10' },
  },
  RouterProviderPausedForHours: {
    at: '5h',
    // While the database was down, nobody reported the pause.
    fires: {
      'router_provider_paused{provider="bfl",calls="submit",asked_by="operator"}': '1x100 stale _x5 1x200',
    },
    rests: {
      'router_provider_paused{provider="bfl",calls="submit",asked_by="operator"}': '1x230 stale',
      'router_provider_paused{provider="fal",calls="submit",asked_by="provider"}': '1x300',
    },
  },
  RouterWebhooksGivenUp: {
    at: '1h',
    fires: { router_webhooks_given_up_total: '0x20 0+2x40' },
    rests: { router_webhooks_given_up_total: '0x20 1x10 5x30' },
  },
  RouterRetentionFails: {
    at: '2h',
    fires: { 'router_retention_failures_total{step="partitions"}': '0+1x120' },
    // An outage of half an hour.
    rests: { 'router_retention_failures_total{step="partitions"}': '0x60 0+1x30 30x30' },
  },
  RouterLogLinesDropped: {
    at: '1h',
    fires: { 'router_log_lines_dropped_total{app="gateway",instance="a"}': '0x30 0+50x30' },
    rests: { 'router_log_lines_dropped_total{app="gateway",instance="a"}': '0x50 40x10' },
  },
  RouterTransactionOpenForLong: {
    at: '2h',
    fires: { router_database_oldest_transaction_seconds: '0+60x120' },
    // A backup of 50 minutes.
    rests: { router_database_oldest_transaction_seconds: '0+60x50 0x70' },
  },
  RouterBackupOverdue: {
    at: '27h',
    // The backup at the start was the last one; the clock of promtool starts at 0.
    fires: { router_last_backup_timestamp_seconds: '0x1640' },
    // One after 24 hours.
    rests: { router_last_backup_timestamp_seconds: '0x1440 86400x200' },
  },
  RouterBackupLogStopped: {
    at: '1h',
    fires: { router_backup_log_streaming: '1x40 0x30' },
    // A restart of the process that streams.
    rests: { router_backup_log_streaming: '1x40 0x2 1x30' },
  },
};
