import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System } from '../harness/faults.js';
import { unending, type Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';
import { type CollectedSpan, startCollector } from './collector.js';

const model = 'bfl/flux-2-pro';
const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${callerSpan}-01`;

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    collector = await startCollector();
    const [transport = 'postgres'] = transports();
    system = await System.start({
      transport,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' },
    });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await collector.close();
  });

  const spansOf = (id: string, count: number): Promise<CollectedSpan[]> =>
    waitFor(
      () => {
        const found = collector.spans.filter((span) => span.traceId === id);
        return found.length >= count && found;
      },
      { withinMs: 30_000, what: `${count} spans of a trace`, everyMs: 50 },
    );
  const tree = (spans: CollectedSpan[], parent: string): unknown[] =>
    spans
      .filter((span) => span.parentSpanId === parent)
      .map((span) => [`${span.service} ${span.name}`, ...tree(spans, span.spanId)])
      .toSorted((one, other) => String(one).localeCompare(String(other)));

  it('show caller, gateway and worker as one tree, without spans for polls that changed nothing', async () => {
    const run = await caller.submit(model, `{"prompt":"traced ${unending}"}`, {
      headers: { traceparent },
    });
    await waitFor(async () => ((await system.provider.ledger())[0]?.pollCount ?? 0) > 0, {
      withinMs: 30_000,
      what: 'a poll that changes nothing',
    });
    await system.provider.finish();
    await caller.completed(run);
    const [entry] = await system.provider.ledger();
    expect(entry?.pollCount).toBeGreaterThan(1);
    const spans = await spansOf(traceId, 4);
    expect(tree(spans, callerSpan)).toEqual([
      [
        'gateway POST /v2/models/:provider/:model/requests',
        ['worker dispatch', ['worker submit']],
        ['worker poll'],
      ],
    ]);
    expect(spans).toHaveLength(4);
    const idsOf = (service: string) =>
      spans
        .filter((span) => span.service === service)
        .map(({ attributes }) => [attributes['router.run_id'], attributes['router.call_id']]);
    const callId = spans.find(({ service }) => service === 'gateway')?.attributes['router.request_id'];
    expect(callId).toEqual(expect.any(String));
    expect(idsOf('gateway')).toEqual([[run.requestId, undefined]]);
    expect(idsOf('worker')).toEqual(Array.from({ length: 3 }, () => [run.requestId, callId]));
    const worker = system.workers[0];
    await waitFor(() => worker?.logs().includes(`"trace_id":"${traceId}"`), {
      withinMs: 30_000,
      what: 'the trace id in the run’s log line',
    });
  });

  it('begin only with a call that admits a run', async () => {
    const before = collector.spans.length;
    const answer = await caller.call('POST', `/v2/models/${model}`, { body: '{"prompt":"its own"}' });
    expect(answer.status).toBe(200);
    await Promise.all(
      Array.from({ length: 5 }, () =>
        caller.call('GET', '/v2/models', { headers: { traceparent: 'nonsense' } }),
      ),
    );
    const root = await waitFor(
      () => collector.spans.slice(before).find(({ service }) => service === 'gateway'),
      {
        withinMs: 30_000,
        what: 'the span of the call',
      },
    );
    expect(root.parentSpanId ?? '').toBe('');
    const spans = await spansOf(root.traceId, 4);
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['gateway', 'worker']));
    expect(new Set(collector.spans.slice(before).map((span) => span.traceId))).toEqual(
      new Set([root.traceId]),
    );
  });

  it('contain neither key, body nor address of a result', () => {
    const text = JSON.stringify(collector.spans);
    expect(text).not.toContain('traced');
    expect(text).not.toContain(caller.key);
    expect(text).not.toMatch(/https?:/);
  });

  it('cost the service nothing when the collector goes down', async () => {
    await collector.close();
    const run = await caller.submit(model, '{"prompt":"alone"}');
    expect((await caller.completed(run))['error_type']).toBeUndefined();
  });
});

failOnLeftovers();
