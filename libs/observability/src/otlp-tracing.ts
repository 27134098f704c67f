import {
  type Attributes,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ObservabilityOptions } from './settings.js';
import { resourceOf, samplerOf } from './trace-settings.js';
import { readTraceparent, type Span, type SpanKind, type SpanStart, type Tracing } from './tracing.js';
import { settlesWithin } from './waits.js';

const kinds = { server: Kind.SERVER, client: Kind.CLIENT, consumer: Kind.CONSUMER } satisfies Record<
  SpanKind,
  Kind
>;
const closeMs = 2_000;

/** Exports spans by OTLP over HTTP. Spans that the collector does not accept are dropped without a delay. */
export class OtlpTracing implements Tracing {
  readonly on = true;
  private readonly provider: BasicTracerProvider;

  constructor(endpoint: string, settings: ObservabilityOptions, warn: (message: string) => void) {
    const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: 5_000 });
    this.provider = new BasicTracerProvider({
      resource: resourceFromAttributes(resourceOf(settings, warn)),
      sampler: samplerOf(settings, warn),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
  }

  start({ name, kind, parent, attributes = {}, startedAtMs }: SpanStart): Span {
    const remote = readTraceparent(parent);
    const context = remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT;
    const options = {
      kind: kinds[kind],
      attributes,
      ...(startedAtMs !== undefined && { startTime: startedAtMs }),
    };
    return new OtlpSpan(this.provider.getTracer('model-router').startSpan(name, options, context));
  }

  async close(): Promise<void> {
    await settlesWithin(this.provider.shutdown(), closeMs);
  }
}

class OtlpSpan implements Span {
  constructor(private readonly span: OtelSpan) {}

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  set(attributes: Attributes): void {
    this.span.setAttributes(attributes);
  }

  end(errorType?: string): void {
    if (errorType !== undefined) {
      this.span.setAttribute('error.type', errorType);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}
