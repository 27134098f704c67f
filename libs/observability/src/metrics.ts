import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { serviceVersion } from './service-version.js';

/** The current state of a connection pool. */
interface PoolState {
  pool: string;
  busy: number;
  idle: number;
  waiting: number;
}

const callBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60, 600];
const waitBuckets = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300, 1800];

/**
 * All metrics of a process. Label values are bounded: they come from routes, closed sets in the code and the
 * configured providers, never from workspaces, runs, models, paths or addresses.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  // Calls.
  readonly requestSeconds = this.histogram(
    'http_server_request_duration_seconds',
    'Time from the request to the last byte of the response.',
    ['route', 'method', 'status_class', 'error_type'],
    callBuckets,
  );
  readonly heldCalls = this.gauge(
    'router_held_calls',
    'Synchronous calls that wait for the outcome of their run.',
  );

  readonly statusStreams = this.gauge('router_status_streams', 'Status streams that are open.');

  readonly refusedConnections = this.counter(
    'router_connections_refused_total',
    'Connections of callers that were closed because all of MAX_CONNECTIONS, or the share of their network, were taken.',
  );

  // Admission.
  readonly refusals = this.counter(
    'router_admission_rejections_total',
    'Runs refused at admission, by the limit that refused them.',
    ['reason'],
  );
  readonly admissionSeconds = this.histogram(
    'router_admission_duration_seconds',
    'Time of the database call that admits a run, including its wait for a batch.',
    [],
    callBuckets,
  );
  readonly counterDrift = this.counter(
    'router_admission_drift_total',
    'Workspace counters that did not match the sums over live runs; stays 0.',
  );

  // Runs.
  readonly runs = this.counter('router_runs_total', 'Runs that reached their outcome.', [
    'delivery',
    'provider',
    'outcome',
    'error_type',
  ]);
  readonly runSeconds = this.histogram(
    'router_run_duration_seconds',
    'Time of a finished run in each phase: waiting for a slot, for a worker, for the provider, copying assets.',
    ['phase'],
    [0.01, 0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 3600],
  );
  readonly inflightRuns = this.gauge(
    'router_inflight_runs',
    'Live runs in the database; every worker reports the same value, so take the maximum.',
    ['provider', 'state'],
  );
  readonly billedDollars = this.counter('router_billed_dollars_total', 'Dollars billed for finished runs.', [
    'provider',
  ]);
  readonly priceBoundExceeded = this.counter(
    'router_price_bound_exceeded_total',
    'Runs that cost more at the provider than was reserved, and were billed the reserve.',
    ['provider'],
  );
  readonly committedDollars = this.gauge(
    'router_committed_dollars',
    'Dollars reserved for live runs that have a slot; every worker reports the same value.',
  );
  readonly heldDollars = this.gauge(
    'router_held_dollars',
    'Dollars of credits reserved for all live runs; every worker reports the same value.',
  );
  readonly clockSkewSeconds = this.gauge(
    'router_clock_skew_seconds',
    'Seconds by which this process’s clock is ahead of the database’s; beyond 2 s either way it is not ready.',
  );

  // Queues.
  readonly queueJobs = this.gauge(
    'router_queue_jobs',
    'Jobs on Redis by queue and state, and runs to dispatch; every worker reports the same value.',
    ['queue', 'state'],
  );
  readonly oldestJobSeconds = this.gauge(
    'router_queue_oldest_job_age_seconds',
    'Time since the oldest waiting run had its slot, and of parked ones since its admission; every worker reports the same value.',
    ['queue'],
  );
  readonly queueWaitSeconds = this.histogram(
    'router_queue_wait_seconds',
    'Time from when a job or row was due until a worker took it.',
    ['queue'],
    waitBuckets,
  );
  readonly pollLatenessSeconds = this.histogram(
    'router_provider_poll_lateness_seconds',
    'Time from when a poll was due until it began.',
    ['provider'],
    waitBuckets,
  );
  readonly oldestOverdueSeconds = this.gauge(
    'router_outbox_oldest_age_seconds',
    'Time since the oldest overdue outbox row was due; every worker reports the same value.',
  );
  readonly redelivered = this.counter(
    'router_reconciler_requeued_total',
    'Runs whose job was lost, and that the reconciler enqueued again.',
    ['queue'],
  );
  readonly stalledJobs = this.counter(
    'router_stalled_jobs_total',
    'Jobs, or rows, taken over from a worker that died or froze.',
    ['queue'],
  );
  readonly lostLocks = this.counter(
    'router_lock_lost_total',
    'Jobs, or rows, this worker gave up because it could not renew their lock.',
    ['queue'],
  );

  // Providers.
  readonly providerSeconds = this.histogram(
    'router_provider_request_duration_seconds',
    'Time of one HTTP call to a provider.',
    ['provider', 'op', 'result'],
    [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60, 600],
  );
  readonly dispatchUnknown = this.counter(
    'router_dispatch_unknown_total',
    'Submissions whose outcome is unknown after a crash.',
    ['provider'],
  );
  readonly accountTrouble = this.counter(
    'router_provider_account_errors_total',
    'Replies by which a provider refused our key or balance.',
    ['provider'],
  );
  readonly retryAfters = this.counter(
    'router_provider_asks_to_wait_total',
    'Refusals by which a provider told us when to retry (Retry-After).',
    ['provider', 'calls'],
  );
  readonly pausedProviders = this.gauge(
    'router_provider_paused',
    '1 while calls to a provider are paused, and by whom; every worker reports the same value.',
    ['provider', 'calls', 'asked_by'],
  );
  readonly assetCopies = this.counter('router_asset_copy_total', 'Assets of results: copied, or why not.', [
    'outcome',
  ]);
  readonly assetCopyBytes = this.counter('router_asset_copy_bytes_total', 'Bytes of copied assets.');
  readonly storeSeconds = this.histogram(
    'router_store_request_duration_seconds',
    'Time of a call to the asset store; a put takes as long as its body arrives.',
    ['op', 'result'],
    [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  );
  readonly storedObjects = this.gauge(
    'router_stored_objects',
    'Stored objects that no run needs: in doubt, or due for deletion.',
    ['state'],
  );

  // Webhooks.
  readonly webhookSeconds = this.histogram(
    'router_webhook_request_duration_seconds',
    'Time of one call to a webhook: delivered, or why not.',
    ['result'],
    [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
  );
  readonly webhooksGivenUp = this.counter(
    'router_webhooks_given_up_total',
    'Webhooks that failed as often as they are tried.',
  );
  readonly oldestDueWebhookSeconds = this.gauge(
    'router_webhook_oldest_due_seconds',
    'Time since the oldest webhook was due that its receiver does not hold up; every worker reports the same value.',
  );

  // Catalog.
  readonly catalogReadings = this.counter(
    'router_catalog_readings_total',
    'Reloads of the catalog: loaded, unchanged or refused.',
    ['result'],
  );
  readonly catalogRefused = this.gauge(
    'router_catalog_refused',
    '1 if the last reload of the catalog was refused, so that an older revision is in use.',
  );
  readonly catalogLoadedAt = this.gauge(
    'router_catalog_loaded_timestamp_seconds',
    'When the catalog revision in use was loaded.',
  );

  readonly droppedLogLines = this.counter(
    'router_log_lines_dropped_total',
    'Lines of the log that were dropped because too many waited for a reader.',
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    const build = this.gauge('router_build_info', 'Always 1; the version in its labels.', [
      'version',
      'node',
    ]);
    build.set({ version: serviceVersion, node: process.versions.node }, 1);
  }

  /** Creates the counters of each provider at 0, because alerts miss an event that creates its series. */
  expectProviders(names: Iterable<string>): void {
    for (const provider of names) {
      this.dispatchUnknown.inc({ provider }, 0);
      this.accountTrouble.inc({ provider }, 0);
      this.priceBoundExceeded.inc({ provider }, 0);
      for (const calls of ['submit', 'poll']) this.retryAfters.inc({ provider, calls }, 0);
    }
  }

  /** Reads the state of the connection pools at each scrape. */
  watchPools(read: () => readonly PoolState[]): void {
    const gauge: Gauge<'pool' | 'state'> = new Gauge({
      name: 'router_database_connections',
      help: 'Connections of a pool that are busy or idle, and callers that wait for one.',
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

  private gauge<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
    return new Gauge<Label>({ name, help, labelNames, registers: [this.registry] });
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
