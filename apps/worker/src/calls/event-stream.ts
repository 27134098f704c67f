import { dataOf, type EventStream, EventSplitter, type HttpReply } from '#providers';
import { faultOf } from './fault.js';
import type { Share } from '../bytes/payloads.js';

/** Takes the bytes of an event stream for its caller. Never waits, so that a slow caller cannot hold up the worker. */
interface StreamSink {
  write(bytes: Uint8Array): void;
  /** `isWhole`: the provider has ended the stream. */
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
}

/** Collects an event stream and passes it on while it arrives. Never rejects: a broken stream is cut. */
export async function collectEvents(
  body: AsyncIterable<Buffer>,
  { mediaType, maxBytes, share, passOn, signal, cancelled, withholds }: Terms,
): Promise<Pick<HttpReply, 'body' | 'passedOn' | 'cut'>> {
  const sink = passOn?.(mediaType);
  const filter = withholds && new Filter(withholds);
  const chunks: Buffer[] = [];
  const passed: Uint8Array[] = [];
  const pass = (parts: readonly Uint8Array[]) => {
    for (const part of parts) sink?.write(part);
    if (filter) passed.push(...parts);
  };
  let size = 0;
  let cut: HttpReply['cut'];
  try {
    for await (const chunk of body) {
      pass(filter ? filter.push(chunk) : [chunk]);
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) {
        cut = 'oversize';
        break;
      }
      await share.grow(chunk.length, signal);
    }
  } catch (error) {
    cut = cancelled?.aborted ? 'cancelled' : signal.aborted ? 'timeout' : causeOf(error);
  }
  if (filter) pass([filter.rest()]);
  await sink?.close(cut === undefined);
  return {
    body: Buffer.concat(chunks, size),
    ...(filter?.hasWithheld && { passedOn: Buffer.concat(passed) }),
    ...(cut && { cut }),
  };
}

/** Keeps some events from the caller. The others pass unchanged, each once it is complete. */
class Filter {
  hasWithheld = false;
  private readonly splitter = new EventSplitter();

  constructor(private readonly withholds: (data: string) => boolean) {}

  push(chunk: Uint8Array): Uint8Array[] {
    return this.splitter.push(chunk).filter((event) => {
      const isWithheld = this.withholds(dataOf(event));
      this.hasWithheld ||= isWithheld;
      return !isWithheld;
    });
  }

  rest(): Uint8Array {
    return this.splitter.rest();
  }
}

function causeOf(error: unknown): 'timeout' | 'reset' {
  const fault = faultOf(error);
  return fault.fault === 'ambiguous' ? fault.cause : 'reset';
}
