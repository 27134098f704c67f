import { type Log, LOG } from '#observability';
import { HeldRunRepository } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import type { AdmittedRun } from '../run-input.js';

interface KeyedRun {
  workspaceId: string;
  key: string;
  runId: string;
}

/** The records that follow the delivery of a result. */
interface Delivery {
  runId: string;
  delivered: () => Promise<void>;
  /** Follows `delivered` if the caller died without reading the result. */
  takenBack: () => Promise<void>;
  /** The connection broke before the result was written in full. */
  cutOff?: () => Promise<void>;
}

/** Failures after which a new run may succeed. */
const passing: readonly number[] = [429, 503, 529];

/**
 * Whether the answer is a failure that stands. Clients and the loops around them repeat it anyway, so equal calls get it
 * again for a while.
 */
const isKept = (status: number): boolean => status >= 400 && !passing.includes(status);

const maxAttempt = 1_000_000;

/** The number that SDKs give to the attempts of a call, from 0. */
export function attemptOf({ headers }: FastifyRequest): number {
  const given = String(headers['x-stainless-retry-count']);
  return /^\d{1,7}$/.test(given) ? Math.min(Number(given), maxAttempt) : 0;
}

/** The last delivery on a connection, and how many bytes its caller had sent by then. */
interface Note {
  sentBytes: number;
  takeBack: () => Promise<void>;
}

/**
 * Records which results were delivered in full. Needed for results with the provider's own URLs, which may expire: such
 * a result cannot be repeated, but a retry must still get it if the connection was lost. Also needed for results of
 * calls without a key, which an equal call gets only if this one did not.
 */
@Injectable()
export class DeliveredResults {
  private readonly notes = new WeakMap<Socket, Note>();

  constructor(
    private readonly held: HeldRunRepository,
    @Inject(LOG) private readonly log: Log,
  ) {}

  noteWhenSent(reply: FastifyReply, { workspaceId, key, runId }: KeyedRun): void {
    const count = (change: 1 | -1) => this.held.countDelivery(workspaceId, key, runId, change);
    this.follow(reply, { runId, delivered: () => count(1), takenBack: () => count(-1) });
  }

  noteUnkeyed(
    reply: FastifyReply,
    { workspaceId, unkeyed = '', runId }: Pick<AdmittedRun, 'workspaceId' | 'unkeyed' | 'runId'>,
  ): void {
    const leave = () => this.held.leaveUnkeyed(workspaceId, unkeyed, runId);
    const keep = () => this.held.leaveUnkeyed(workspaceId, unkeyed, runId, attemptOf(reply.request));
    const delivered = () => (isKept(reply.statusCode) ? keep() : this.held.forgetUnkeyed(runId));
    this.follow(reply, { runId, delivered, takenBack: leave, cutOff: leave });
  }

  /**
   * Records the delivery when the answer has been written in full. If the gateway dies before that, a retry gets the
   * result again.
   */
  private follow(reply: FastifyReply, { runId, delivered, takenBack, cutOff }: Delivery): void {
    const { socket } = reply.request.raw;
    const ended = () => {
      // Not `finish` or `writableFinished`: Node reports both for an answer that was cut off while it was written.
      if (socket.destroyed) {
        if (cutOff !== undefined) void this.record(runId, cutOff);
        return;
      }
      const noted = this.record(runId, delivered);
      const takeBack = async () => {
        if (await noted) await this.record(runId, takenBack);
      };
      if (!this.notes.has(socket)) socket.once('close', (isReset: boolean) => this.closed(socket, isReset));
      this.notes.set(socket, { sentBytes: socket.bytesRead, takeBack });
    };
    if (socket.destroyed) ended();
    else reply.raw.once('close', ended);
  }

  /**
   * The operating system accepts a small answer immediately, so only a reset shows that the caller died without
   * reading it. A caller that sends another request on the connection has read the answer.
   */
  private closed(socket: Socket, isReset: boolean): void {
    const note = this.notes.get(socket);
    if (isReset && note?.sentBytes === socket.bytesRead) void note.takeBack();
  }

  private async record(runId: string, write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      this.log.warn({ error, run_id: runId }, 'could not record the delivery of a result');
      return false;
    }
  }
}
