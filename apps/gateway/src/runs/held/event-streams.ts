import type { RunOutcome } from '#persistence';
import { RunStreams, type StreamPiece } from '#queue';
import { Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { ErrorFilter } from '../../answers/error.filter.js';
import { outputOf } from '../found-run.js';
import { RunPayloads } from '../run-payloads.js';

/** How often the transport is read, because a signal may be lost. */
const readEveryMs = 1_000;

/** Answers synchronous calls with the provider's events while they arrive. */
@Injectable()
export class EventStreams {
  constructor(
    private readonly streams: RunStreams,
    private readonly payloads: RunPayloads,
    private readonly errors: ErrorFilter,
  ) {}

  /**
   * Answers with the events of the run. A failure after the first one ends the answer with an event of its own. Returns
   * false, with nothing sent, if the run ends before its first event; then the outcome is the answer.
   */
  async sendEvents(reply: FastifyReply, runId: string, outcome: Promise<RunOutcome>): Promise<boolean> {
    const events = this.eventsOf(reply, runId, outcome);
    const mediaType = await events.next();
    if (mediaType.done) return false;
    // A stream that breaks off now gets a status of its own, which an answer that has begun could not.
    const first = await events.next().catch(() => undefined);
    if (first === undefined || first.done) return false;
    void reply.code(200).headers({
      'content-type': Buffer.from(mediaType.value).toString('utf8'),
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    void reply.send(Readable.from(this.begunWith(first.value, events, reply)));
    return true;
  }

  private async *begunWith(
    first: Uint8Array,
    rest: AsyncGenerator<Uint8Array>,
    reply: FastifyReply,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield first;
      yield* rest;
    } catch (error) {
      yield this.errors.eventOf(error, reply.request, reply);
    } finally {
      await rest.return(undefined);
    }
  }

  /**
   * Yields the media type and then the bytes of the stream; nothing if `outcome` settles first. Takes the next bytes
   * only when the previous ones were sent, so a slow caller holds up nobody. If the transport no longer has them, they
   * come from the outcome. The last byte follows the outcome, so a stream that ends is a run that was recorded. Throws
   * the run's failure if the provider did not end the stream.
   */
  private async *eventsOf(
    reply: FastifyReply,
    runId: string,
    outcome: Promise<RunOutcome>,
  ): AsyncGenerator<Uint8Array> {
    const news = new News();
    const unsubscribe = this.streams.subscribe(runId, () => news.ring());
    const settle = () => news.ring({ isSettled: true });
    outcome.then(settle, settle);
    let offset = 0;
    let isOpen = false;
    /** The provider has ended the stream, or the transport has lost a part of it. */
    let isRead = false;
    let hasEnded = false;
    try {
      for (;;) {
        // A read after the outcome finds every piece, because the worker writes them first.
        const { isSettled } = news;
        if (isSettled && (!isOpen || hasEnded)) break;
        const pieces: StreamPiece[] = isRead ? [] : await this.streams.read(runId, offset);
        for (const { kind, start, bytes } of pieces) {
          isRead = start !== offset || (kind === 'bytes' && !isOpen) || kind === 'end';
          hasEnded = isRead && kind === 'end' && start === offset;
          if (isRead) break;
          if (kind === 'bytes' || !isOpen) yield bytes;
          isOpen = true;
          if (kind === 'bytes') offset += bytes.byteLength;
        }
        if (pieces.length === 0 && isSettled) break;
        if (pieces.length === 0 || isRead) await news.next(isRead ? undefined : readEveryMs);
      }
      if (!isOpen) return;
      const result = await outcome;
      if (hasEnded) return;
      yield* this.payloads.readOutput(reply, outputOf(result), offset);
    } finally {
      unsubscribe();
    }
  }
}

/** Whether a run has news since the last look. */
class News {
  isSettled = false;
  private isNew = false;
  private resume = () => {};

  ring({ isSettled = this.isSettled } = {}): void {
    this.isSettled = isSettled;
    this.isNew = true;
    this.resume();
  }

  /** Resolves when there is news, or after `withinMs`. */
  async next(withinMs?: number): Promise<void> {
    if (!this.isNew) {
      await new Promise<void>((resolve) => {
        const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
        this.resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.isNew = false;
  }
}
