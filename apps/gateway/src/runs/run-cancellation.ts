import { type Log, LOG, Metrics } from '#observability';
import {
  type AgedOut,
  type CancelAnswer,
  HeldRunRepository,
  recordRun,
  type Released,
  RunReader,
} from '#persistence';
import { RunQueues, RunSignals } from '#queue';
import { Inject, Injectable } from '@nestjs/common';

/** Ends runs at their caller's request or when their caller has gone, and starts those that the freed slots admit. */
@Injectable()
export class RunCancellation {
  constructor(
    private readonly runs: RunReader,
    private readonly held: HeldRunRepository,
    private readonly queues: RunQueues,
    private readonly signals: RunSignals,
    @Inject(LOG) private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  /** Null for an unknown run, `aged_out` for one that is only remembered. A run that was not dispatched is finished when this returns. */
  async cancelRun(
    workspaceId: string,
    modelId: string,
    runId: string,
  ): Promise<CancelAnswer['found'] | AgedOut | null> {
    const answer = await this.runs.requestCancel(workspaceId, modelId, runId);
    if (answer === null || answer === 'aged_out') return answer;
    if (answer.found === 'waiting')
      recordRun(runId, answer.record, this.log, this.metrics, 'cancelled before it was sent');
    await Promise.all([
      // The freed slot may have let others in.
      this.queues.enqueueGranted(answer.granted),
      // Once: however often a caller repeats the request, its run is not polled more often for it.
      answer.found === 'dispatched' && !answer.isRepeated && this.queues.runNow('poll', runId),
      answer.found === 'waiting' && this.signals.publish(runId),
    ]);
    return answer.found;
  }

  /** To be called when a held connection ends without a result: the run is withdrawn if nobody could collect it. */
  async leaveRun(runId: string, isDisconnected: boolean): Promise<Released> {
    const left = await this.held.release(runId, isDisconnected);
    if (left.found === 'withdrawn')
      recordRun(runId, left.record, this.log, this.metrics, 'withdrawn: its caller is gone');
    await this.queues.enqueueGranted(left.granted);
    return left;
  }
}
