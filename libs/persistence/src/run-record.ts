import { type Log, type Metrics, readTraceparent } from '#observability';
import type { FinishedRun } from './run-facts.js';

const microsPerDollar = 1_000_000;

/** Writes the log line and the metrics of a finished run, in the process that wrote its outcome. */
export function recordRun(runId: string, run: FinishedRun, log: Log, metrics: Metrics, note?: string): void {
  const { model, delivery, outcome, basis, reservedMicros, reportedMicros, phasesMs } = run;
  const provider = metrics.providerLabel(run.provider);
  metrics.runs.inc({ delivery, provider, outcome, error_type: run.bucket ?? '' });
  if (run.billedMicros > 0) metrics.billedDollars.inc({ provider }, run.billedMicros / microsPerDollar);
  if (basis === 'reported' && (reportedMicros ?? 0) > reservedMicros) {
    metrics.priceBoundExceeded.inc({ provider });
    log.error(
      { run_id: runId, model, reported_micros: reportedMicros, reserved_micros: reservedMicros },
      'the provider reports a higher price than was reserved: the price in the model row is too low',
    );
  }
  for (const [phase, ms] of Object.entries(phasesMs))
    metrics.runSeconds.observe({ provider, phase }, ms / 1000);
  log.info(
    {
      run_id: runId,
      call_id: run.callId,
      workspace_id: run.workspaceId,
      model,
      delivery,
      outcome,
      error_type: run.bucket ?? undefined,
      billed_micros: run.billedMicros,
      basis: basis ?? undefined,
      phases_ms: phasesMs,
      trace_id: readTraceparent(run.traceparent ?? undefined)?.traceId,
      note,
    },
    'run finished',
  );
}
