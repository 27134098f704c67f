import type { Readable } from 'node:stream';
import { type ArrivingEvents, dataOf, type EventStream, EventSplitter, type HttpReply } from '#providers';
import type { Share } from '../bytes/payloads.js';
import { faultOf } from './fault.js';

/** Takes the events of a stream for its caller. Never waits, so that a slow caller cannot hold up the worker. */
interface StreamSink {
  write(bytes: Uint8Array): void;
  /** `isWhole`: the provider has ended the stream, by its last event or by an error. */
  close(isWhole: boolean): Promise<void>;
}

/** Opens the sink of a stream whose first byte is about to arrive. */
export type PassOn = (mediaType: string) => StreamSink;

interface Terms extends EventStream {
  mediaType: string;
  maxBytes: number;
  share: Share;
  passOn: PassOn | undefined;
  /** Bounds the whole call. */
  signal: AbortSignal;
  /** Aborts when the caller cancels the run or leaves. */
  cancelled: AbortSignal | undefined;
  /** Aborts when this worker is about to stop: nothing more is awaited for a caller who left. */
  closing: AbortSignal | undefined;
}

type Collected = Pick<HttpReply, 'body' | 'passedOn' | 'cut' | 'left' | 'streamSeconds'>;

/** How long the usage is awaited of a stream whose caller left after the answer. */
const usageMs = 10_000;
/** How long the connection may take to close after the last event. It can be reused only if it does. */
const closeMs = 1_000;

/**
 * Collects an event stream and passes its events on while they arrive, up to the last one. An event that breaks off is
 * not passed on, so that an error can follow. Never rejects: a broken stream is cut. A stream that its caller leaves is
 * cut at once, or once its usage has arrived if the answer was complete.
 */
export async function collectEvents(
  body: Readable,
  { signal, cancelled, closing, maxBytes, share, ...terms }: Terms,
): Promise<Collected> {
  const stream = new CollectedStream(terms, share);
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    stopping.abort();
    body.destroy();
  };
  const stopWithin = (ms: number) => (timer ??= setTimeout(stop, ms).unref());
  const leave = () => (stream.leave() && !closing?.aborted ? stopWithin(usageMs) : stop());
  const close = () => stream.isLeft && stop();
  cancelled?.addEventListener('abort', leave, { once: true });
  closing?.addEventListener('abort', close, { once: true });
  let cut: HttpReply['cut'];
  try {
    if (cancelled?.aborted) leave();
    const growing = AbortSignal.any([signal, stopping.signal]);
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      stream.push(chunk);
      if (stream.isSettled) break;
      if (stream.hasEnded) stopWithin(closeMs);
      if (size > maxBytes) {
        cut = 'oversize';
        break;
      }
      if (!stream.isLeft) await share.grow(chunk.length, growing);
    }
  } catch (error) {
    if (!stopping.signal.aborted) cut = signal.aborted ? 'timeout' : causeOf(error);
  } finally {
    clearTimeout(timer);
    cancelled?.removeEventListener('abort', leave);
    closing?.removeEventListener('abort', close);
  }
  return await stream.end(cut);
}

/** The part of a stream that has arrived. */
class CollectedStream {
  isLeft = false;
  private readonly arriving: ArrivingEvents;
  private readonly splitter = new EventSplitter();
  private readonly sink: StreamSink | undefined;
  private closed: Promise<void> | undefined;
  private chunks: Buffer[] = [];
  private size = 0;
  /** The events that were read end at this offset of the bytes that arrived, and those that were passed on at that one. */
  private readTo = 0;
  private passedTo = 0;
  /** Offsets of the events that were withheld. */
  private readonly withheld: { from: number; to: number }[] = [];
  private readonly begunAtMs = performance.now();
  private workedUntilMs = this.begunAtMs;

  constructor(
    private readonly terms: Pick<Terms, 'arriving' | 'mediaType' | 'passOn' | 'withholds'>,
    private readonly share: Share,
  ) {
    this.arriving = terms.arriving();
    this.sink = terms.passOn?.(terms.mediaType);
  }

  /** Whether the last event has arrived. */
  get hasEnded(): boolean {
    return this.arriving.hasEnded;
  }

  /** Whether the caller has left and no usage is awaited. */
  get isSettled(): boolean {
    return this.isLeft && !this.arriving.isMissingUsage;
  }

  push(chunk: Buffer): void {
    this.size += chunk.length;
    this.workedUntilMs = performance.now();
    if (this.isKept) this.chunks.push(chunk);
    for (const event of this.splitter.push(chunk)) {
      const data = dataOf(event);
      if (!this.hasEnded) this.pass(event, data);
      this.arriving.take(data);
    }
    if (this.hasEnded) this.closed ??= this.sink?.close(true);
  }

  /** The caller no longer waits. Returns whether the usage of its answer has yet to arrive. */
  leave(): boolean {
    const { folded, isMissingUsage } = this.arriving;
    if (this.hasEnded || (folded.isComplete && folded.hasUsage)) return false;
    this.isLeft = true;
    this.workedUntilMs = performance.now();
    this.closed ??= this.sink?.close(false);
    if (!this.isKept) {
      this.chunks = [];
      this.share.shrink(this.size);
    }
    return isMissingUsage;
  }

  async end(cut: HttpReply['cut']): Promise<Collected> {
    const { folded } = this.arriving;
    // Some servers close the connection without the blank line after the last event.
    if (cut === undefined && !this.isLeft && !this.hasEnded) {
      const rest = this.splitter.rest();
      const data = dataOf(rest);
      this.arriving.take(data);
      if (folded.isComplete || folded.error || folded.isPartial) this.pass(rest, data);
    }
    const isEnded = folded.error !== undefined || (cut === undefined && folded.isComplete);
    const isWhole = this.hasEnded || (isEnded && !this.isLeft);
    this.closed ??= this.sink?.close(isWhole);
    await this.closed;
    const streamSeconds = (this.workedUntilMs - this.begunAtMs) / 1000;
    if (this.isLeft && !this.isKept)
      return { body: Buffer.alloc(0), cut: 'cancelled', left: folded, streamSeconds };
    const body = Buffer.concat(this.chunks);
    const passedOn = this.passedOf(body);
    return {
      body,
      streamSeconds,
      ...(passedOn.length < this.size && { passedOn }),
      ...(!isWhole && { cut: this.isLeft ? 'cancelled' : cut }),
    };
  }

  /** A stream that is left is known by its events, unless one of them was too large to read. */
  private get isKept(): boolean {
    return !this.isLeft || this.arriving.folded.isPartial;
  }

  private pass(event: Uint8Array, data: string): void {
    const from = this.readTo;
    this.readTo += event.length;
    if (this.isLeft || event.length === 0) return;
    if (this.terms.withholds?.(data)) {
      this.withheld.push({ from, to: this.readTo });
      return;
    }
    this.sink?.write(event);
    this.passedTo = this.readTo;
  }

  /** The bytes that the caller got, of the bytes that arrived. */
  private passedOf(body: Buffer): Buffer {
    const withheld = this.withheld.filter(({ to }) => to <= this.passedTo);
    if (withheld.length === 0) return body.subarray(0, this.passedTo);
    const starts = [0, ...withheld.map(({ to }) => to)];
    const ends = [...withheld.map(({ from }) => from), this.passedTo];
    return Buffer.concat(starts.map((start, index) => body.subarray(start, ends[index])));
  }
}

function causeOf(error: unknown): 'timeout' | 'reset' {
  const fault = faultOf(error);
  return fault.fault === 'ambiguous' ? fault.cause : 'reset';
}
