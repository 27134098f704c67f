import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { release, shortRevision } from './release.js';
import { steps } from './steps.js';

/** The current state of a connection pool. */
interface PoolState {
  pool: string;
  busy: number;
  idle: number;
  waiting: number;
}

/** Concurrency slots of a provider in this process. */
interface SlotUsage {
  busy: number;
  total: number;
}

/** The objective counts quick calls that take at most 0.3 s. */
const callBuckets = steps(0.001, 600, [0.3]);
const waitBuckets = steps(0.005, 1800);

/**
 * All metrics of a process. Label values are bounded: they come from routes, closed sets in the code and the
 * configured providers, never from workspaces, runs, models, paths or addresses.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly providers = new Set<string>();
  private readonly slotUsages = new Map<string, (provider: string) => SlotUsage>();

  // Calls.
  readonly requestSeconds = this.histogram(
    'router_http_server_request_duration_seconds',
    'Time from the request to the last byte of the response.',
    ['route', 'method', 'status_class', 'error_type'],
    callBuckets,
  );
  readonly heldCalls = this.gauge(
    'router_held_calls',
    'Synchronous calls that are waiting for the outcome of their run.',
  );

  readonly statusStreams = this.gauge('router_status_streams', 'Open status streams.');

  readonly refusedConnections = this.counter(
    'router_connections_refused_total',
    'Connections of callers that were closed because MAX_CONNECTIONS, or the share of their network, was used up.',
  );

  // Admission.
  readonly refusals = this.counter(
    'router_admission_rejections_total',
    'Calls rejected because of what their workspace may have in flight or spend, by the limit that was reached.',
    ['reason'],
  );
  readonly admissionSeconds = this.histogram(
    'router_admission_duration_seconds',
    'Duration of the database call that admits a run, including its wait for a batch.',
    [],
    steps(0.001, 20),
  );
  readonly counterDrift = this.counter(
    'router_admission_drift_total',
    'Workspace counters that differed from the runs they count. Must stay 0.',
  );

  // Runs.
  readonly runs = this.counter('router_runs_total', 'Finished runs.', [
    'delivery',
    'provider',
    'outcome',
    'error_type',
  ]);
  readonly runSeconds = this.histogram(
    'router_run_duration_seconds',
    'Time that a finished run spent in each phase: waiting for a slot, waiting for a worker, at the provider, copying assets.',
    ['provider', 'phase'],
    steps(0.01, 3600),
  );
  readonly inflightRuns = this.gauge(
    'router_inflight_runs',
    'Live runs in the database. Every process reports the same value, so take the maximum.',
    ['provider', 'state'],
  );
  readonly billedDollars = this.counter('router_billed_dollars_total', 'Dollars billed for finished runs.', [
    'provider',
  ]);
  readonly priceBoundExceeded = this.counter(
    'router_price_bound_exceeded_total',
    'Runs that cost more at the provider than the most that they can be billed, which they were billed.',
    ['provider'],
  );
  readonly overshootDollars = this.counter(
    'router_provider_overshoot_dollars_total',
    'Dollars that providers charged us above the most that the runs can be billed.',
    ['provider', 'model'],
  );
  readonly committedDollars = this.gauge(
    'router_committed_dollars',
    'Dollars reserved for live runs that have a slot. Every process reports the same value.',
  );
  readonly heldDollars = this.gauge(
    'router_held_dollars',
    'Dollars of credits reserved for all live runs. Every process reports the same value.',
  );
  readonly clockSkewSeconds = this.gauge(
    'router_clock_skew_seconds',
    'Seconds by which the clock of this process is ahead of the database clock. At more than 2 s in either direction, the process is not ready.',
  );

  // Queues.
  readonly queueJobs = this.gauge(
    'router_queue_jobs',
    'Jobs on Redis by queue and state, and runs to dispatch. Every process reports the same value.',
    ['queue', 'state'],
  );
  readonly oldestJobSeconds = this.gauge(
    'router_queue_oldest_job_age_seconds',
    'Time since the oldest waiting run got its slot; for parked runs, since its admission. Every process reports the same value.',
    ['queue'],
  );
  readonly queueWaitSeconds = this.histogram(
    'router_queue_wait_seconds',
    'Time between a job or row becoming due, or a run becoming ready to be dispatched, and a worker taking it.',
    ['queue'],
    waitBuckets,
  );
  readonly pollLatenessSeconds = this.histogram(
    'router_provider_poll_lateness_seconds',
    'Time between a poll becoming due and its start.',
    ['provider'],
    waitBuckets,
  );
  readonly oldestOverdueSeconds = this.gauge(
    'router_outbox_oldest_age_seconds',
    'How long the oldest overdue outbox row has been due: a poll, a copy, a lease or a postponed submission. Runs that wait for a free worker are not due. Every process reports the same value.',
  );
  readonly redelivered = this.counter(
    'router_reconciler_requeued_total',
    'Runs that the reconciler enqueued again because their job was lost.',
    ['queue'],
  );
  readonly stalledJobs = this.counter(
    'router_stalled_jobs_total',
    'Jobs or rows that were taken over from a worker that died or froze.',
    ['queue'],
  );
  readonly lostLocks = this.counter(
    'router_lock_lost_total',
    'Jobs or rows that this worker gave up because it could not renew their lock.',
    ['queue'],
  );

  // Providers.
  readonly providerSeconds = this.histogram(
    'router_provider_request_duration_seconds',
    'Duration of an HTTP call to a provider.',
    ['provider', 'op', 'result'],
    steps(0.005, 600),
  );
  readonly dispatchUnknown = this.counter(
    'router_dispatch_unknown_total',
    'Submissions with an unknown outcome, because their worker died.',
    ['provider'],
  );
  readonly unreadInputs = this.counter(
    'router_inputs_unread_total',
    'Attempts to send a run whose input or files could not be read from the store.',
    ['reason'],
  );
  readonly accountTrouble = this.counter(
    'router_provider_account_errors_total',
    'Replies in which a provider rejected our key or balance.',
    ['provider'],
  );
  readonly keyCalls = this.counter(
    'router_provider_key_calls_total',
    'HTTP calls to a provider that has several keys, by the name of the key.',
    ['provider', 'key', 'op', 'result'],
  );
  readonly keyRejections = this.counter(
    'router_provider_key_rejections_total',
    'Replies that rejected one key of several, by the name of the key: key, balance, quota, or rate_limit with a time to retry after.',
    ['provider', 'key', 'reason'],
  );
  readonly keyStates = this.gauge(
    'router_provider_key_state',
    '1 for the present state of each key of a provider that has several. Every worker with such keys reports the same value.',
    ['provider', 'key', 'state'],
  );
  readonly providerSurprises = this.counter(
    'router_provider_surprises_total',
    'Replies of a provider that its declaration does not expect, by kind.',
    ['provider', 'kind'],
  );
  readonly retryAfters = this.counter(
    'router_provider_asks_to_wait_total',
    'Calls that a provider rejected with a time to retry after (Retry-After).',
    ['provider', 'calls'],
  );
  readonly pausedProviders = this.gauge(
    'router_provider_paused',
    '1 while calls to a provider are paused, by who paused them. Every process reports the same value.',
    ['provider', 'calls', 'asked_by'],
  );
  readonly providerStates = this.gauge(
    'router_provider_state',
    '1 for the present state of each provider, the one that matters most. Every process reports the same value.',
    ['provider', 'state'],
  );
  readonly assetCopies = this.counter(
    'router_asset_copy_total',
    'Assets in results: copied, or the reason why not.',
    ['outcome'],
  );
  readonly assetCopyBytes = this.counter('router_asset_copy_bytes_total', 'Bytes of copied assets.');
  readonly storeSeconds = this.histogram(
    'router_store_request_duration_seconds',
    'Duration of a call to the asset store. A put lasts until its whole body has arrived.',
    ['op', 'result'],
    steps(0.005, 60),
  );
  readonly storedObjects = this.gauge(
    'router_stored_objects',
    'Stored objects without a run that needs them: in doubt, or due for deletion.',
    ['state'],
  );

  // Webhooks.
  readonly webhookSeconds = this.histogram(
    'router_webhook_request_duration_seconds',
    'Duration of a webhook call, by result: delivered, or the reason why not.',
    ['result'],
    steps(0.01, 10),
  );
  readonly webhooksGivenUp = this.counter(
    'router_webhooks_given_up_total',
    'Webhooks that were given up after their last attempt failed.',
  );
  readonly oldestDueWebhookSeconds = this.gauge(
    'router_webhook_oldest_due_seconds',
    'How long the oldest due webhook has not been called although its receiver has free slots. Every process reports the same value.',
  );

  // Catalog.
  readonly catalogReadings = this.counter(
    'router_catalog_readings_total',
    'Reloads of the catalog, by result: loaded, unchanged or refused.',
    ['result'],
  );
  readonly catalogRefused = this.gauge(
    'router_catalog_refused',
    '1 while an older revision of the catalog is in use because the last reload was refused.',
  );
  readonly catalogLoadedAt = this.gauge(
    'router_catalog_loaded_timestamp_seconds',
    'Time at which the catalog revision in use was loaded.',
  );

  readonly droppedLogLines = this.counter(
    'router_log_lines_dropped_total',
    'Log lines that were dropped because too many were waiting for a reader.',
  );

  readonly retentionFailures = this.counter(
    'router_retention_failures_total',
    'Steps of retention that failed and are retried in the next round, by step.',
    ['step'],
  );
  readonly oldestTransactionSeconds = this.gauge(
    'router_database_oldest_transaction_seconds',
    'Age of the oldest open transaction that the role of the app may see. Every process reports the same value.',
  );

  readonly lastBackupAt = this.gauge(
    'router_last_backup_timestamp_seconds',
    'Time at which the last recorded backup of the database was complete. Every process reports the same value, and none if no backup was recorded.',
  );
  readonly backupLogStreams = this.gauge(
    'router_backup_log_streaming',
    '1 while the write-ahead log is streamed to the backups, 0 while it is not. Every process reports the same value, and none if it never was.',
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'router_' });
    const build = this.gauge('router_build_info', 'Always 1. The labels contain the version.', [
      'version',
      'revision',
      'node',
    ]);
    build.set({ version: release.version, revision: shortRevision, node: process.versions.node }, 1);
    const slots: Gauge<'queue' | 'provider' | 'state'> = new Gauge({
      name: 'router_worker_slots',
      help: 'Concurrency slots of this worker: busy ones, and all of them.',
      labelNames: ['queue', 'provider', 'state'],
      registers: [this.registry],
      collect: () => {
        for (const [queue, usage] of this.slotUsages)
          for (const provider of this.providers)
            for (const [state, count] of Object.entries(usage(provider)))
              slots.set({ queue, provider, state }, count);
      },
    });
  }

  /** Adds the providers of a catalog. Those of former revisions stay, because their runs may still be live. */
  knowProviders(names: readonly string[]): void {
    for (const provider of names) this.providers.add(provider);
  }

  /** The provider of a run as a label. Rows outlive catalogs, so unknown providers share one value. */
  providerLabel(name: string): string {
    return this.providers.has(name) ? name : 'other';
  }

  /** Creates the counters of each provider at 0, because alerts miss an event that creates its series. */
  expectProviders(names: readonly string[]): void {
    this.knowProviders(names);
    for (const provider of names) {
      this.dispatchUnknown.inc({ provider }, 0);
      this.accountTrouble.inc({ provider }, 0);
      this.priceBoundExceeded.inc({ provider }, 0);
      for (const calls of ['submit', 'poll']) this.retryAfters.inc({ provider, calls }, 0);
    }
  }

  /** Reads the concurrency slots of each expected provider at each scrape. */
  watchSlots(queue: string, usage: (provider: string) => SlotUsage): void {
    this.slotUsages.set(queue, usage);
  }

  /** Asks at each scrape whether the process is ready. */
  watchReadiness(isReady: () => Promise<boolean>): void {
    const gauge: Gauge = new Gauge({
      name: 'router_ready',
      help: '1 while the process is ready, by the same probe as /health/ready, and 0 while it is not.',
      registers: [this.registry],
      collect: async () => gauge.set(Number(await isReady())),
    });
  }

  watchUnsavedOutcomes(count: () => number): void {
    const gauge: Gauge = new Gauge({
      name: 'router_unsaved_outcomes',
      help: 'Outcomes of runs that the worker knows and the database has not taken yet.',
      registers: [this.registry],
      collect: () => gauge.set(count()),
    });
  }

  /** Reads the state of the connection pools at each scrape. */
  watchPools(read: () => readonly PoolState[]): void {
    const gauge: Gauge<'pool' | 'state'> = new Gauge({
      name: 'router_database_connections',
      help: 'Busy and idle connections of a pool, and callers that are waiting for one.',
      labelNames: ['pool', 'state'],
      registers: [this.registry],
      collect: () => {
        for (const { pool, ...states } of read()) {
          for (const [state, count] of Object.entries(states)) gauge.set({ pool, state }, count);
        }
      },
    });
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter<Label>({ name, help, labelNames, registers: [this.registry] });
  }

  /** Without labels, a gauge would start at 0, which a process that does not measure it would report for good. */
  private gauge<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
    const gauge = new Gauge<Label>({ name, help, labelNames, registers: [this.registry] });
    if (labelNames.length === 0) gauge.remove();
    return gauge;
  }

  private histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets: number[],
  ) {
    return new Histogram<Label>({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
