import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** All metrics of a process. Labels are bounded: no workspace, run or model ever becomes one. */
export class Metrics {
  readonly registry = new Registry();

  readonly requestSeconds = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from request to the last byte of the answer.',
    labelNames: ['route', 'method', 'status_class', 'error_type'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60, 600],
    registers: [this.registry],
  });
  readonly refusals = new Counter({
    name: 'router_admission_rejections_total',
    help: 'Runs refused at admission, by the limit that refused them.',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly runs = new Counter({
    name: 'router_runs_total',
    help: 'Runs that reached their outcome.',
    labelNames: ['provider', 'outcome', 'error_type'],
    registers: [this.registry],
  });
  readonly providerSeconds = new Histogram({
    name: 'router_provider_request_duration_seconds',
    help: 'Time of one HTTP call to a partner.',
    labelNames: ['provider', 'operation', 'result'],
    buckets: [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60, 600],
    registers: [this.registry],
  });
  readonly dispatchUnknown = new Counter({
    name: 'router_dispatch_unknown_total',
    help: 'Submissions whose fate at the partner is unknown after a crash.',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly accountTrouble = new Counter({
    name: 'router_provider_account_errors_total',
    help: 'Replies that say our key or balance at the partner is not accepted.',
    labelNames: ['provider'],
    registers: [this.registry],
  });
  readonly redelivered = new Counter({
    name: 'router_reconciler_requeued_total',
    help: 'Deliveries that the sweep had to repeat.',
    labelNames: ['lane'],
    registers: [this.registry],
  });
  readonly oldestOverdueSeconds = new Gauge({
    name: 'router_outbox_oldest_age_seconds',
    help: 'Age of the longest overdue delivery.',
    registers: [this.registry],
  });
  readonly counterDrift = new Gauge({
    name: 'router_admission_counter_drift',
    help: 'Workspace counters that differ from the sums over live runs; always 0.',
    registers: [this.registry],
  });
  readonly queueJobs = new Gauge({
    name: 'router_queue_jobs',
    help: 'Jobs by lane and state.',
    labelNames: ['queue', 'state'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
