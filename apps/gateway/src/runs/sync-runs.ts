import { RouterError } from '#errors';
import { Injectable } from '@nestjs/common';
import { nameSubmission } from '../answers/submissions.js';
import { callerGone } from '../http/replies.js';
import { outputOf, settledHeaders } from './found-run.js';
import { DeliveredResults } from './held/delivered-results.js';
import { EventStreams } from './held/event-streams.js';
import { HeldRuns } from './held/held-runs.js';
import { HeldShares } from './held/held-shares.js';
import { RunAdmission, type WantedRun } from './run-admission.js';
import { RunPayloads } from './run-payloads.js';

/** Answers a call with the result of its run: the queued path with a held connection. */
@Injectable()
export class SyncRuns {
  constructor(
    private readonly admission: RunAdmission,
    private readonly held: HeldRuns,
    private readonly shares: HeldShares,
    private readonly delivered: DeliveredResults,
    private readonly payloads: RunPayloads,
    private readonly events: EventStreams,
  ) {}

  /** Sends the events of the run or its output. Throws if the call is rejected or the run fails. */
  async answerRun(call: Omit<WantedRun, 'mode' | 'webhook' | 'onAccepted'>): Promise<void> {
    const { reply, caller } = call;
    nameSubmission(reply, call.segments);
    this.shares.holdConnection(reply, caller.workspaceId);
    const gone = callerGone(reply);
    const { run, outcome } = await this.held.holdRun(
      (onAccepted) => this.admission.admitRun({ ...call, mode: 'sync', onAccepted }),
      gone,
    );
    if (run.unkeyed !== undefined)
      void outcome.then(
        () => this.delivered.noteUnkeyed(reply, run),
        () => {},
      );
    if (run.streams && (await this.events.sendEvents(reply, run.runId, outcome))) return;
    const result = await outcome;
    // The provider's URLs may have expired since the first delivery, so the result cannot be repeated.
    const isOnce = result.outcome === 'succeeded' && result.providerUrls;
    if (isOnce && run.delivered)
      throw new RouterError(
        'invalid_input',
        'The result of this Idempotency-Key was already delivered and cannot be repeated; use a new key for a new run.',
        { status: 409 },
      );
    reply.headers(settledHeaders(result));
    await this.payloads.sendOutput(reply.code(200), outputOf(result));
    const { workspaceId, key, runId } = run;
    if (isOnce && key !== undefined) this.delivered.noteWhenSent(reply, { workspaceId, key, runId });
  }
}
