type Attributes = Record<string, string | number | boolean>;

/** `server`: a call to us; `client`: a call that we make; `consumer`: work that was delivered to us. */
export type SpanKind = 'server' | 'client' | 'consumer';

/** `using` ends it. */
export interface Span extends Disposable {
  /** W3C trace context for what follows from this span; undefined when nothing is traced. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** `errorType` marks the span as failed. */
  end(errorType?: string): void;
}

export interface SpanStart {
  name: string;
  kind: SpanKind;
  /** Where the trace comes from; undefined begins one. */
  parent: string | undefined;
  attributes?: Attributes;
  /** Epoch milliseconds; default now. */
  startedAtMs?: number;
}

/** Spans on their way to a collector. */
export interface Tracing {
  readonly on: boolean;
  start(span: SpanStart): Span;
  /** Sends what is left, for two seconds at most. */
  close(): Promise<void>;
}

const noSpan: Span = { traceparent: undefined, set: () => {}, end: () => {}, [Symbol.dispose]: () => {} };

/** For a process that sends no traces: no SDK is loaded, nothing is allocated for a span. */
export const noTracing: Tracing = { on: false, start: () => noSpan, close: async () => {} };

/** Injects the process's `Tracing`. */
export const TRACING = Symbol('tracing');

const syntax = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The parts of a W3C `traceparent`; undefined for anything else, which a caller may send. */
export function readTraceparent(
  text: string | undefined,
): { traceId: string; spanId: string; traceFlags: number } | undefined {
  const [, traceId, spanId, flags = ''] = syntax.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}
