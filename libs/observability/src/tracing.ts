type Attributes = Record<string, string | number | boolean>;

/** `server`: a call that we receive; `client`: a call that we make; `consumer`: work delivered to us. */
export type SpanKind = 'server' | 'client' | 'consumer';

/** A span. Leaving the scope of `using` ends it. */
export interface Span extends Disposable {
  /** W3C trace context for work that follows from this span; undefined if tracing is off. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** `errorType` marks the span as failed. */
  end(errorType?: string): void;
}

export interface SpanStart {
  name: string;
  kind: SpanKind;
  /** The trace context to continue; undefined starts a new trace. */
  parent: string | undefined;
  attributes?: Attributes;
  /** Epoch milliseconds; default now. */
  startedAtMs?: number;
}

/** Creates spans and sends them to a collector. */
export interface Tracing {
  readonly on: boolean;
  start(span: SpanStart): Span;
  /** Sends the remaining spans, for at most two seconds. */
  close(): Promise<void>;
}

const noSpan: Span = { traceparent: undefined, set: () => {}, end: () => {}, [Symbol.dispose]: () => {} };

/** For a process without tracing: the SDK is not loaded, and spans allocate nothing. */
export const noTracing: Tracing = { on: false, start: () => noSpan, close: async () => {} };

const runAttributeNames = {
  runId: 'router.run_id',
  callId: 'router.call_id',
  model: 'router.model',
  provider: 'router.provider',
  workspaceId: 'router.workspace_id',
} as const;

/** A run, and the call that admitted it. What a process does not know is absent or null. */
type TracedRun = { [Name in keyof typeof runAttributeNames]?: string | null | undefined };

/** The attributes that every span of a run has, so that its spans are found without their trace. */
export function runAttributes(run: TracedRun): Attributes {
  const attributes: Attributes = {};
  for (const [name, attribute] of Object.entries(runAttributeNames)) {
    const value = run[name as keyof TracedRun];
    if (typeof value === 'string') attributes[attribute] = value;
  }
  return attributes;
}

/** Injects the process's `Tracing`. */
export const TRACING = Symbol('tracing');

const syntax = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses a W3C `traceparent`. Undefined for any other text, since callers may send anything. */
export function readTraceparent(
  text: string | undefined,
): { traceId: string; spanId: string; traceFlags: number } | undefined {
  const [, traceId, spanId, flags = ''] = syntax.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}
