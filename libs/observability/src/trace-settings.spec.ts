import { afterEach, describe, expect, it } from '@jest/globals';
import { OtlpTracing } from './otlp-tracing.js';
import { resourceOf } from './trace-settings.js';
import { readTraceparent, runAttributes, type SpanKind } from './tracing.js';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const flagged = `00-${traceId}-b7ad6b7169203331-01`;
const unflagged = `00-${traceId}-b7ad6b7169203331-00`;

const open: OtlpTracing[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((tracing) => tracing.close()));
});

/** Starts a span with this sampler, and returns its trace and whether it is recorded. */
function started(sampler: object, kind: SpanKind, parent: string | undefined) {
  const warnings: string[] = [];
  const tracing = new OtlpTracing(
    'http://127.0.0.1:1',
    { app: 'gateway', ...sampler } as ConstructorParameters<typeof OtlpTracing>[1],
    (message) => warnings.push(message),
  );
  open.push(tracing);
  const context = readTraceparent(tracing.start({ name: 'a call', kind, parent }).traceparent);
  return { traceId: context?.traceId, isSampled: context?.traceFlags === 1, warnings };
}

const sampler = (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG?: string) => ({
  OTEL_TRACES_SAMPLER,
  OTEL_TRACES_SAMPLER_ARG,
});

describe('the sampler', () => {
  it.each([
    ['no settings', {}, true],
    ['always_on', sampler('always_on'), true],
    ['always_off', sampler('always_off'), false],
    ['parentbased_always_on', sampler('parentbased_always_on'), true],
    ['parentbased_always_off', sampler('parentbased_always_off'), false],
    ['traceidratio, of all', sampler('traceidratio'), true],
    ['traceidratio, of none', sampler('traceidratio', '0'), false],
    ['parentbased_traceidratio, of none', sampler('parentbased_traceidratio', '0'), false],
    ['a name in capitals', sampler('ALWAYS_OFF'), false],
  ])('%s decides about a call, and neither flag of a caller does', (_what, settings, isSampled) => {
    for (const parent of [flagged, unflagged])
      expect(started(settings, 'server', parent)).toEqual({ traceId, isSampled, warnings: [] });
    expect(started(settings, 'server', undefined).isSampled).toBe(isSampled);
  });

  it.each([
    ['parentbased_traceidratio', '0', flagged, true],
    ['parentbased_traceidratio', '1', unflagged, false],
    ['traceidratio', '0', flagged, false],
    ['traceidratio', '1', unflagged, true],
  ])('%s of %s: a worker follows the gateway only with the prefix', (name, ratio, parent, isSampled) => {
    expect(started(sampler(name, ratio), 'consumer', parent)).toEqual({ traceId, isSampled, warnings: [] });
  });

  it('traces the configured share of calls', () => {
    const settings = sampler('parentbased_traceidratio', '0.25');
    const sampled = Array.from({ length: 256 }, (_each, n) => {
      const id = n.toString(16).padStart(2, '0').padEnd(32, '0').replace(/0$/, '1');
      return started(settings, 'server', `00-${id}-b7ad6b7169203331-01`).isSampled;
    });
    expect(sampled.filter(Boolean)).toHaveLength(64);
  });

  it.each([
    [sampler('sometimes'), 'OTEL_TRACES_SAMPLER does not name a known sampler, using parentbased_always_on'],
    [
      sampler('constructor'),
      'OTEL_TRACES_SAMPLER does not name a known sampler, using parentbased_always_on',
    ],
    [sampler('traceidratio', '7'), 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, using 1'],
    [sampler('traceidratio', 'half'), 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, using 1'],
  ])('reports and ignores %j', (settings, warning) => {
    expect(started(settings, 'server', unflagged)).toEqual({
      traceId,
      isSampled: true,
      warnings: [warning],
    });
  });
});

const resource = (settings: object) => {
  const warnings: string[] = [];
  const { 'service.version': version, ...others } = resourceOf({ app: 'gateway', ...settings }, (message) =>
    warnings.push(message),
  );
  expect(version).toMatch(/^\d/);
  return { ...others, warnings: warnings.length };
};

describe('the resource', () => {
  const own = { 'service.namespace': 'model-router', 'service.name': 'gateway' };

  it.each([
    ['is ours without settings', {}, own],
    [
      'has the attributes of the environment, decoded',
      { OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=gateway-7d9f , place=a%2Cb%3Dc%20d,' },
      { ...own, 'k8s.pod.name': 'gateway-7d9f', place: 'a,b=c d' },
    ],
    [
      'takes the service from the attributes',
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=front,service.namespace=shop' },
      { 'service.name': 'front', 'service.namespace': 'shop' },
    ],
    [
      'takes the service from its own setting first',
      { OTEL_SERVICE_NAME: 'edge', OTEL_RESOURCE_ATTRIBUTES: 'service.name=front' },
      { ...own, 'service.name': 'edge' },
    ],
  ])('%s', (_what, settings, expected) => {
    expect(resource(settings)).toEqual({ ...expected, warnings: 0 });
  });

  it.each(['a=b,nothing', 'a=b,=c', 'a=b=c', 'a=%zz'])('ignores %s as a whole, and reports it', (text) => {
    expect(resource({ OTEL_RESOURCE_ATTRIBUTES: text })).toEqual({ ...own, warnings: 1 });
  });
});

it('the attributes of a run are those that are known', () => {
  expect(runAttributes({ runId: 'one', callId: undefined, provider: null, workspaceId: 'two' })).toEqual({
    'router.run_id': 'one',
    'router.workspace_id': 'two',
  });
});
