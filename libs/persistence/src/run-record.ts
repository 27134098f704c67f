import { type Log, type Metrics, readTraceparent } from '#observability';
import type { FinishedRun } from './run-facts.js';

const microsPerDollar = 1_000_000;

/** Writes the log line and the metrics of a finished run, in the process that wrote its outcome. */
export function recordRun(runId: string, run: FinishedRun, log: Log, metrics: Metrics, note?: string): void {
  const { model, delivery, outcome, overshootMicros, lostMicros, reportedMicros, phasesMs } = run;
  const provider = metrics.providerLabel(run.provider);
  metrics.runs.inc({ delivery, provider, outcome, error_type: run.bucket ?? '' });
  if (run.billedMicros > 0) metrics.billedDollars.inc({ provider }, run.billedMicros / microsPerDollar);
  if (overshootMicros !== null && overshootMicros > 0) {
    metrics.priceBoundExceeded.inc({ provider });
    log.error(
      { run_id: runId, model, reported_micros: reportedMicros, provider_overshoot_micros: overshootMicros },
      'the provider reports a higher price than the run can be billed: the price in the model row is too low',
    );
  }
  if (lostMicros !== null && lostMicros > 0)
    metrics.overshootDollars.inc({ provider, model }, lostMicros / microsPerDollar);
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
      basis: run.basis ?? undefined,
      phases_ms: phasesMs,
      trace_id: readTraceparent(run.traceparent ?? undefined)?.traceId,
      note,
    },
    'run finished',
  );
}
