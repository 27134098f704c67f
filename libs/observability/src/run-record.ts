import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import { readTraceparent } from './tracing.js';

/** What is known of a run when it has its outcome. */
interface RunRecord {
  workspaceId: string;
  provider: string;
  model: string;
  delivery: string;
  outcome: string;
  bucket: string | null;
  billedMicros: number;
  /** How that was found; null when nothing is billed. */
  basis: string | null;
  reservedMicros: number;
  /** What the partner says that it cost, with the mark-up. */
  reportedMicros: number | null;
  traceparent: string | null;
  phasesMs: Partial<Record<'queue' | 'dispatch' | 'provider' | 'assets', number>>;
}

const microsPerDollar = 1_000_000;

/** One line and one set of measurements for a finished run, written by the process that wrote its outcome. */
export function recordRun(
  runId: string,
  { phasesMs, ...run }: RunRecord,
  log: Log,
  metrics: Metrics,
  note?: string,
): void {
  metrics.runs.inc({
    delivery: run.delivery,
    provider: run.provider,
    outcome: run.outcome,
    error_type: run.bucket ?? '',
  });
  if (run.billedMicros > 0)
    metrics.billedDollars.inc({ provider: run.provider }, run.billedMicros / microsPerDollar);
  if (run.basis === 'reported' && (run.reportedMicros ?? 0) > run.reservedMicros) {
    metrics.priceBoundExceeded.inc({ provider: run.provider });
    log.error(
      {
        run_id: runId,
        model: run.model,
        reported_micros: run.reportedMicros,
        reserved_micros: run.reservedMicros,
      },
      'the partner reports a higher price than was reserved: the price of the model is too low',
    );
  }
  for (const [phase, ms] of Object.entries(phasesMs)) metrics.runSeconds.observe({ phase }, ms / 1000);
  log.info(
    {
      run_id: runId,
      workspace_id: run.workspaceId,
      model: run.model,
      delivery: run.delivery,
      outcome: run.outcome,
      error_type: run.bucket ?? undefined,
      billed_micros: run.billedMicros,
      basis: run.basis ?? undefined,
      phases_ms: phasesMs,
      trace_id: readTraceparent(run.traceparent ?? undefined)?.traceId,
      note,
    },
    'run finished',
  );
}
