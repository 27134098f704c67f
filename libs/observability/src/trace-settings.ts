import { SpanKind, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { release } from './release.js';
import type { ObservabilityOptions } from './settings.js';

type Warn = (message: string) => void;

type SamplerSettings = Pick<ObservabilityOptions, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>;
type ResourceSettings = Pick<ObservabilityOptions, 'app' | 'OTEL_SERVICE_NAME' | 'OTEL_RESOURCE_ATTRIBUTES'>;

const defaultSampler = 'parentbased_always_on';

/** The samplers of the OpenTelemetry specification. `ratio` is the argument of those that have one. */
const samplers: Record<string, (ratio: () => number) => Sampler> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio()),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) =>
    new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio()) }),
};

/**
 * The configured sampler. It decides about calls that we receive as if they had no parent, because a stranger
 * must not choose what we record; the worker's spans follow the gateway's decision. As the specification
 * requires, unusable settings are reported and ignored.
 */
export function samplerOf(settings: SamplerSettings, warn: Warn): Sampler {
  const { OTEL_TRACES_SAMPLER: name = defaultSampler, OTEL_TRACES_SAMPLER_ARG: text } = settings;
  const create = Object.hasOwn(samplers, name.toLowerCase()) ? samplers[name.toLowerCase()] : undefined;
  if (!create) warn(`OTEL_TRACES_SAMPLER does not name a known sampler, using ${defaultSampler}`);
  const configured = (create ?? samplers[defaultSampler])?.(() => ratioOf(text, warn)) as Sampler;
  return {
    shouldSample: (context, traceId, name, kind, attributes, links) =>
      configured.shouldSample(
        kind === SpanKind.SERVER ? trace.deleteSpan(context) : context,
        traceId,
        name,
        kind,
        attributes,
        links,
      ),
    toString: () => configured.toString(),
  };
}

function ratioOf(text: string | undefined, warn: Warn): number {
  if (text === undefined) return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  warn('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, using 1');
  return 1;
}

/** The attributes of the process that its spans carry. The environment takes precedence over our own. */
export function resourceOf(settings: ResourceSettings, warn: Warn): Record<string, string> {
  const { app, OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: text = '' } = settings;
  return {
    'service.namespace': 'model-router',
    'service.name': app,
    'service.version': release.version,
    ...parsedAttributes(text, warn),
    ...(name !== undefined && { 'service.name': name }),
  };
}

/** Parses `key=value,…` with percent-encoded keys and values. One bad pair discards all. */
function parsedAttributes(text: string, warn: Warn): Record<string, string> {
  try {
    const pairs = text.split(',').filter((pair) => pair.trim() !== '');
    return Object.fromEntries(pairs.map(parsedPair));
  } catch {
    warn('OTEL_RESOURCE_ATTRIBUTES is ignored, because it is not a list like key=value,key=value');
    return {};
  }
}

function parsedPair(pair: string): [key: string, value: string] {
  const [key = '', value, ...others] = pair.split('=').map((part) => decodeURIComponent(part.trim()));
  if (key === '' || value === undefined || others.length > 0) throw new Error('not key=value');
  return [key, value];
}
