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

/** The last delivery on a connection, and how many bytes its caller had sent by then. */
interface Note {
  sentBytes: number;
  takeBack: () => Promise<void>;
}

/**
 * Records which results were delivered in full. Needed only for results with the provider's own URLs, which may
 * expire: such a result cannot be repeated, but a retry must still get it if the connection was lost.
 */
@Injectable()
export class DeliveredResults {
  private readonly notes = new WeakMap<Socket, Note>();

  constructor(
    private readonly held: HeldRunRepository,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * Records the delivery when the answer has been written in full. If the gateway dies before that, a retry gets the
   * result again.
   */
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
   * The operating system accepts a small answer immediately, so only a reset shows that the caller died without
   * reading it. A caller that sends another request on the connection has read the answer.
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
      this.log.warn({ error, run_id: runId }, 'could not record the delivery of a result');
      return false;
    }
  }
}
