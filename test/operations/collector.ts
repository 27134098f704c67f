import { json, ScriptedServer } from '../harness/index.js';

export interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, unknown>;
  /** The attributes of its process. */
  resource: Record<string, unknown>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}
interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        name: string;
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        attributes: Attribute[];
      }[];
    }[];
  }[];
}

const plain = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

/** Receives traces as a collector does, by OTLP in JSON over HTTP, and keeps them. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const server = await ScriptedServer.start((call, ...rest) => {
    const { resourceSpans } = JSON.parse(call.text) as Export;
    for (const { resource, scopeSpans } of resourceSpans) {
      const process = plain(resource.attributes);
      const service = String(process['service.name']);
      for (const { name, traceId, spanId, parentSpanId, attributes } of scopeSpans.flatMap(
        (scope) => scope.spans,
      ))
        spans.push({
          service,
          name,
          traceId,
          spanId,
          parentSpanId,
          attributes: plain(attributes),
          resource: process,
        });
    }
    return json({})(call, ...rest);
  });
  return { url: server.url, spans, close: () => server.stop() };
}
