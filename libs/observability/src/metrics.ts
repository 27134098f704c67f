import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { serviceVersion } from './service-version.js';

/** What a pool of connections is doing at this moment. */
interface PoolState {
  pool: string;
  busy: number;
  idle: number;
  waiting: number;
}

const callBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60, 600];
const waitBuckets = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300, 1800];

/**
 * All metrics of a process. Labels are bounded: by the routes, the closed sets of the code and the configured
 * providers. No workspace, run, model, path or address ever becomes one.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  // Calls.
  readonly requestSeconds = this.histogram(
    'http_server_request_duration_seconds',
    'Time from request to the last byte of the answer.',
    ['route', 'method', 'status_class', 'error_type'],
    callBuckets,
  );
  readonly heldCalls = this.gauge(
    'router_held_calls',
    'Synchronous calls whose connection is held for an outcome.',
  );

  // Admission.
  readonly refusals = this.counter(
    'router_admission_rejections_total',
    'Runs refused at admission, by the limit that refused them.',
    ['reason'],
  );
  readonly admissionSeconds = this.histogram(
    'router_admission_duration_seconds',
    'Time of the database call that admits a run, its wait for a batch included.',
    [],
    callBuckets,
  );
  readonly counterDrift = this.counter(
    'router_admission_drift_total',
    'Workspace counters found to differ from the sums over live runs; stays 0.',
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
    'Time of a finished run in each phase: parked or waiting, dispatch, at the provider, copying assets.',
    ['phase'],
    [0.01, 0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 3600],
  );
  readonly inflightRuns = this.gauge(
    'router_inflight_runs',
    'Live runs as the database has them; every worker says the same, so take the maximum.',
    ['provider', 'state'],
  );
  readonly billedDollars = this.counter('router_billed_dollars_total', 'Dollars billed for finished runs.', [
    'provider',
  ]);
  readonly committedDollars = this.gauge(
    'router_committed_dollars',
    'Dollars reserved for live runs that hold a slot; every worker says the same.',
  );
  readonly heldDollars = this.gauge(
    'router_held_dollars',
    'Dollars of credits held by live runs, parked ones included; every worker says the same.',
  );

  // Queues.
  readonly queueJobs = this.gauge(
    'router_queue_jobs',
    'Jobs by lane and state; every worker says the same.',
    ['queue', 'state'],
  );
  readonly oldestJobSeconds = this.gauge(
    'router_queue_oldest_job_age_seconds',
    'Time since the admission of the run that waits longest; every worker says the same.',
    ['queue'],
  );
  readonly queueWaitSeconds = this.histogram(
    'router_queue_wait_seconds',
    'From the moment a job was due to the moment a worker took it.',
    ['queue'],
    waitBuckets,
  );
  readonly pollLatenessSeconds = this.histogram(
    'router_provider_poll_lateness_seconds',
    'How much later than asked for a poll began.',
    ['provider'],
    waitBuckets,
  );
  readonly oldestOverdueSeconds = this.gauge(
    'router_outbox_oldest_age_seconds',
    'Age of the longest overdue delivery; every worker says the same.',
  );
  readonly redelivered = this.counter(
    'router_reconciler_requeued_total',
    'Deliveries that the sweep had to repeat.',
    ['lane'],
  );
  readonly stalledJobs = this.counter(
    'router_stalled_jobs_total',
    'Jobs taken over from a worker that died or froze.',
    ['queue'],
  );
  readonly lostLocks = this.counter(
    'router_lock_lost_total',
    'Jobs this worker had to give up because it could not renew their lock.',
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
    'Submissions whose fate at the provider is unknown after a crash.',
    ['provider'],
  );
  readonly accountTrouble = this.counter(
    'router_provider_account_errors_total',
    'Replies that say our key or balance at the provider is not accepted.',
    ['provider'],
  );
  readonly asksToWait = this.counter(
    'router_provider_asks_to_wait_total',
    'Refusals by which a provider named a time to stay away.',
    ['provider', 'calls'],
  );
  readonly pausedProviders = this.gauge(
    'router_provider_paused',
    'Always 1: calls that are not made to a provider, and who asked for that; every worker says the same.',
    ['provider', 'calls', 'asked_by'],
  );
  readonly assetCopies = this.counter(
    'router_asset_copy_total',
    'Assets of results, by whether they were copied or why not.',
    ['outcome'],
  );
  readonly assetCopyBytes = this.counter('router_asset_copy_bytes_total', 'Bytes of copied assets.');
  readonly storeSeconds = this.histogram(
    'router_store_request_duration_seconds',
    'Calls of the asset store by what came of them; a put lasts as long as its body arrives.',
    ['op', 'result'],
    [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  );
  readonly storedObjects = this.gauge(
    'router_stored_objects',
    'Objects of the store that no run needs: in doubt still, or left behind and to be deleted.',
    ['state'],
  );

  // Catalog.
  readonly catalogReadings = this.counter(
    'router_catalog_readings_total',
    'Readings of the catalog by what came of them: loaded, unchanged, refused.',
    ['result'],
  );
  readonly catalogRefused = this.gauge(
    'router_catalog_refused',
    'Whether the last reading of the catalog was refused, so that an older revision runs on.',
  );
  readonly catalogLoadedAt = this.gauge(
    'router_catalog_loaded_timestamp_seconds',
    'When the running revision of the catalog was loaded.',
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    const build = this.gauge('router_build_info', 'Always 1; what runs.', ['version', 'node']);
    build.set({ version: serviceVersion(), node: process.versions.node }, 1);
  }

  /** A counter that is not there cannot rise: an alert would miss the first event of a provider. */
  expectProviders(names: Iterable<string>): void {
    for (const provider of names) {
      this.dispatchUnknown.inc({ provider }, 0);
      this.accountTrouble.inc({ provider }, 0);
      for (const calls of ['submit', 'poll']) this.asksToWait.inc({ provider, calls }, 0);
    }
  }

  /** Asked at each scrape: how the pools of connections are doing. */
  watchPools(read: () => readonly PoolState[]): void {
    const gauge: Gauge<'pool' | 'state'> = new Gauge({
      name: 'router_database_connections',
      help: 'Connections of a pool that are busy or idle, and callers waiting for one.',
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
