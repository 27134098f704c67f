import { type Log, LOG } from '#observability';
import { HeldRunRepository } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Whether the result of a key went out in full: a retry afterwards is a replay, before it a collection. */
@Injectable()
export class Delivery {
  constructor(
    private readonly holding: HeldRunRepository,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * To be awaited before the last of the answer is written: whoever has seen it all retries after the note. It is
   * taken back when the connection breaks first. A gateway that dies in between leaves it standing: see
   * docs/decisions/0002-a-synchronous-call-is-a-queued-run-that-is-waited-for.md.
   */
  async note(reply: FastifyReply, workspaceId: string, key: string, runId: string): Promise<void> {
    const { socket } = reply.request.raw;
    if (socket.destroyed) return;
    const noting = this.holding.noteDelivered(workspaceId, key, runId).then(
      () => true,
      (error: unknown) => {
        this.log.warn({ error, run_id: runId }, 'a delivery could not be noted: a retry collects once more');
        return false;
      },
    );
    reply.raw.once('close', () => {
      // Not `finish` or `writableFinished`: Node says both of an answer that was cut off while it was written.
      if (socket.destroyed) void this.takeBack(noting, workspaceId, key, runId);
    });
    await noting;
  }

  private async takeBack(
    noting: Promise<boolean>,
    workspaceId: string,
    key: string,
    runId: string,
  ): Promise<void> {
    try {
      if (await noting) await this.holding.takeBackDelivered(workspaceId, key, runId);
    } catch (error) {
      this.log.warn({ error, run_id: runId }, 'a delivery that broke off could not be taken back');
    }
  }
}
