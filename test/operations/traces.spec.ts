import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System } from '../harness/faults.js';
import { unending, type Caller, failOnLeftovers, Receiver, transports, waitFor } from '../harness/index.js';
import { type CollectedSpan, startCollector } from './collector.js';

const model = 'bfl/flux-2-pro';
const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${callerSpan}-01`;

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let system: System;
  let caller: Caller & { workspaceId: string };
  let receiver: Receiver;

  beforeAll(async () => {
    collector = await startCollector();
    receiver = await Receiver.start();
    const [transport = 'postgres'] = transports();
    system = await System.start({
      transport,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test,k8s.pod.name=pod-1',
        WEBHOOK_ALLOWED_ORIGINS: receiver.url,
      },
    });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await receiver.stop();
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
      headers: { traceparent, 'x-service-tags': 'project=alpha', 'x-service-user': 'u' },
      query: `?webhook_url=${encodeURIComponent(receiver.url)}`,
    });
    await waitFor(async () => ((await system.provider.ledger())[0]?.pollCount ?? 0) > 0, {
      withinMs: 30_000,
      what: 'a poll that changes nothing',
    });
    await system.provider.finish();
    await caller.completed(run);
    const [entry] = await system.provider.ledger();
    expect(entry?.pollCount).toBeGreaterThan(1);
    const spans = await spansOf(traceId, 6);
    expect(tree(spans, callerSpan)).toEqual([
      [
        'gateway POST /v2/models/:provider/:model/requests',
        ['worker assets'],
        ['worker dispatch', ['worker submit']],
        ['worker poll'],
        ['worker webhook'],
      ],
    ]);
    expect(spans).toHaveLength(6);
    const [admission] = await system.sql<{ callId: string }>(
      `SELECT call ->> 'requestId' AS "callId" FROM run WHERE id = $1`,
      [run.requestId],
    );
    expect(spans.find(({ service }) => service === 'gateway')?.attributes).toMatchObject({
      'router.tag.project': 'alpha',
      'router.user': 'u',
    });
    for (const { attributes, resource } of spans) {
      expect(attributes).toMatchObject({
        'router.run_id': run.requestId,
        'router.call_id': admission?.callId,
        'router.model': model,
        'router.provider': 'bfl',
        'router.workspace_id': caller.workspaceId,
      });
      expect(resource).toMatchObject({
        'service.namespace': 'model-router',
        'deployment.environment.name': 'a test',
        'k8s.pod.name': 'pod-1',
      });
    }
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
    const spans = await spansOf(root.traceId, 5);
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['gateway', 'worker']));
    expect(new Set(collector.spans.slice(before).map((span) => span.traceId))).toEqual(
      new Set([root.traceId]),
    );
  });

  it('are recorded as the sampler decides, whatever flag the caller sends, and join the trace of the caller', async () => {
    const edge = await system.startGateway({
      OTEL_SERVICE_NAME: 'edge',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
    });
    const gateway = system.gateways.indexOf(edge);
    // A ratio samples by the id of the trace.
    const dropped = 'ffffffff'.padEnd(32, '0');
    const kept = '00000001'.padEnd(32, '0');
    for (const [id, flag] of [
      [dropped, '01'],
      [kept, '00'],
    ] as const) {
      const headers = { traceparent: `00-${id}-${callerSpan}-${flag}` };
      const run = await caller.submit(model, '{"prompt":"sampled"}', { headers, gateway });
      expect(await caller.completed(run)).not.toHaveProperty('error_type');
      const [row] = await system.sql<{ traceparent: string }>(
        `SELECT facts ->> 'traceparent' AS traceparent FROM run WHERE id = $1`,
        [run.requestId],
      );
      expect(row?.traceparent).toMatch(new RegExp(`^00-${id}-.{16}-0${id === kept ? 1 : 0}$`));
    }
    const spans = await spansOf(kept, 5);
    expect(tree(spans, callerSpan)).toEqual([
      [
        'edge POST /v2/models/:provider/:model/requests',
        ['worker assets'],
        ['worker dispatch', ['worker submit']],
        ['worker poll'],
      ],
    ]);
    // A process that stops sends its remaining spans.
    system.forget(edge);
    await edge.stop();
    expect(collector.spans.filter((span) => span.traceId === dropped)).toEqual([]);
  });

  it('contain neither key, body nor address of a result', () => {
    const text = JSON.stringify(collector.spans);
    expect(text).not.toMatch(/traced|sampled/);
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
