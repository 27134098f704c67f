import { RouterError } from '#errors';
import { type Log, LOG } from '#observability';
import { HeldRunRepository, type RunOutcome } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { setTimeout as pause } from 'node:timers/promises';
import { settledHeaders, outputOf } from '../found-run.js';
import { Payloads } from '../payloads.js';
import type { AdmittedRun } from '../run-admission.js';
import { LastAnswers } from './last-answers.js';

const lookAgainMs = 50;

/** Sends results to held calls, and keeps note of whether one went out in full: a retry then is a replay, before it a collection. */
@Injectable()
export class Delivery {
  /** Deliveries of a run of which it is not known yet whether the note stands. */
  private readonly unsettled = new Map<string, number>();
  private readonly lastAnswers = new LastAnswers();

  constructor(
    private readonly held: HeldRunRepository,
    private readonly payloads: Payloads,
    @Inject(LOG) private readonly log: Log,
  ) {}

  async send(reply: FastifyReply, run: AdmittedRun, result: RunOutcome): Promise<void> {
    const { workspaceId, key, runId } = run;
    const delivered = run.delivered && key !== undefined && (await this.wentOut(workspaceId, key, runId));
    if (delivered) {
      if (!isReplayable(result)) throw cannotReplay();
      reply.header('idempotent-replayed', 'true');
    }
    reply.headers(settledHeaders(result));
    const isNoted = key !== undefined && !delivered;
    const beforeTheEnd = isNoted ? () => this.note(reply, workspaceId, key, runId) : undefined;
    // What the run failed with is its result too, and is sent in one piece.
    if (result.outcome !== 'succeeded') await beforeTheEnd?.();
    await this.payloads.send(reply.code(200), outputOf(result), beforeTheEnd);
  }

  /**
   * A retry may come before the break of the connection that it lost is noticed, or while the note is being taken back. What
   * this gateway is still sending has not gone out; what another one has just noted is looked at again.
   */
  private async wentOut(workspaceId: string, key: string, runId: string): Promise<boolean> {
    for (;;) {
      const unsettled = this.unsettled.get(runId) ?? 0;
      const { deliveries, fresh } = await this.held.deliveries(workspaceId, key, runId);
      if (deliveries <= unsettled) return false;
      if (!fresh) return true;
      await pause(lookAgainMs);
    }
  }

  /**
   * Awaited before the last byte of the answer is written: a caller who has read all of it can only retry after the note. It is
   * taken back when the connection breaks first. A gateway that dies in between leaves it standing: see
   * docs/decisions/0002-a-synchronous-call-is-a-queued-run-that-is-waited-for.md.
   */
  private async note(reply: FastifyReply, workspaceId: string, key: string, runId: string): Promise<void> {
    const { socket } = reply.request.raw;
    if (socket.destroyed) return;
    this.count(runId, 1);
    const noting = this.held.noteDelivered(workspaceId, key, runId).then(
      () => true,
      (error: unknown) => {
        this.log.warn({ error, run_id: runId }, 'a delivery could not be noted: a retry collects once more');
        return false;
      },
    );
    const takeBack = async () => {
      if (await noting) await this.takeBack(workspaceId, key, runId);
      this.count(runId, -1);
    };
    reply.raw.once('close', () => {
      // Not `finish` or `writableFinished`: Node says both of an answer that was cut off while it was written.
      if (socket.destroyed) return void takeBack();
      this.count(runId, -1);
      this.lastAnswers.sent(socket, () => {
        this.count(runId, 1);
        void takeBack();
      });
    });
    await noting;
  }

  private async takeBack(workspaceId: string, key: string, runId: string): Promise<void> {
    try {
      await this.held.takeBackDelivered(workspaceId, key, runId);
    } catch (error) {
      this.log.warn({ error, run_id: runId }, 'the note of an interrupted delivery could not be taken back');
    }
  }

  private count(runId: string, change: 1 | -1): void {
    const count = (this.unsettled.get(runId) ?? 0) + change;
    if (count === 0) this.unsettled.delete(runId);
    else this.unsettled.set(runId, count);
  }
}

/** Whether a delivered result can be repeated honestly: the provider's own asset URLs may have expired meanwhile. */
const isReplayable = ({ outcome, providerUrls }: RunOutcome): boolean =>
  outcome !== 'succeeded' || !providerUrls;

const cannotReplay = (): RouterError =>
  new RouterError(
    'invalid_input',
    'The result of this Idempotency-Key was already delivered and cannot be repeated; use a new key for a new run.',
    { status: 409 },
  );
