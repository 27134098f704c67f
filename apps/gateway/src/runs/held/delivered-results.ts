import { type Log, LOG } from '#observability';
import { HeldRunRepository } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Socket } from 'node:net';

interface KeyedRun {
  workspaceId: string;
  key: string;
  runId: string;
}

/** The last note of a connection, and how much its caller had sent by then. */
interface Note {
  sentBytes: number;
  takeBack: () => Promise<void>;
}

/**
 * Remembers which results have gone out in full. Needed only for results with URLs of the provider's own, which may expire:
 * they cannot be repeated honestly, but a retry must still get one whose connection was lost.
 */
@Injectable()
export class DeliveredResults {
  private readonly notes = new WeakMap<Socket, Note>();

  constructor(
    private readonly held: HeldRunRepository,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** Notes the delivery when the answer has been written in full. A gateway that dies before that errs towards a repetition. */
  noteWhenSent(reply: FastifyReply, run: KeyedRun): void {
    const { socket } = reply.request.raw;
    reply.raw.once('close', () => {
      // Not `finish` or `writableFinished`: Node reports both for an answer that was cut off while it was written.
      if (socket.destroyed) return;
      const noted = this.countDelivery(run, 1);
      const takeBack = async () => {
        if (await noted) await this.countDelivery(run, -1);
      };
      if (!this.notes.has(socket)) socket.once('close', (isReset: boolean) => this.closed(socket, isReset));
      this.notes.set(socket, { sentBytes: socket.bytesRead, takeBack });
    });
  }

  /**
   * A small answer is in the hands of the operating system at once: only a reset shows that its caller died without reading
   * it. A caller that sends another request on the connection has read the answer.
   */
  private closed(socket: Socket, isReset: boolean): void {
    const note = this.notes.get(socket);
    if (isReset && note?.sentBytes === socket.bytesRead) void note.takeBack();
  }

  private async countDelivery({ workspaceId, key, runId }: KeyedRun, change: 1 | -1): Promise<boolean> {
    try {
      await this.held.countDelivery(workspaceId, key, runId, change);
      return true;
    } catch (error) {
      this.log.warn({ error, run_id: runId }, 'the delivery of a result could not be recorded');
      return false;
    }
  }
}
