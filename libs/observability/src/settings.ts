import { z } from 'zod';

export const observabilitySettings = {
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info').meta({
    description: 'Lowest level of log lines that are written. Use `debug` while you investigate a problem.',
    example: 'info',
  }),
  LOG_MAX_WAITING_BYTES: z.coerce.number().int().positive().default(16_777_216).meta({
    description:
      'Maximum size of the log lines that wait for a slow reader of standard output, in bytes. Further lines are dropped and counted, and a log line reports how many.',
    example: '16777216',
  }),
  INTERNAL_HOST: z.string().default('127.0.0.1').meta({
    description:
      'Address that the listener for metrics and health checks binds to. Do not expose it to callers.',
    example: '0.0.0.0',
  }),
  INTERNAL_PORT: z.coerce.number().int().min(0).max(65535).default(0).meta({
    description: 'Port of the listener for metrics and health checks; 0 picks a free one.',
    example: '9464',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
    .optional()
    .meta({
      description:
        'OpenTelemetry collector that receives traces by OTLP over HTTP; `/v1/traces` is appended. If unset, nothing is traced.',
      example: 'http://collector.monitoring:4318',
    }),
  OTEL_SERVICE_NAME: z.string().optional().meta({
    description:
      'The attribute `service.name` of traces. If unset, that of OTEL_RESOURCE_ATTRIBUTES, otherwise `gateway` or `worker`. Do not set it to the same name for both.',
    example: 'router-gateway',
  }),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional().meta({
    description:
      'Attributes of the process in traces, such as its pod and environment, as `key=value` separated by commas, with percent-encoded keys and values. They take precedence over our own.',
    example: 'deployment.environment.name=production,k8s.pod.name=worker-7d9f',
  }),
  OTEL_TRACES_SAMPLER: z.string().optional().meta({
    description:
      'Which calls are traced: `always_on`, `always_off` or `traceidratio`, each also with the prefix `parentbased_`. The default is `parentbased_always_on`. The flag in a `traceparent` of a caller is ignored. With the prefix, workers follow the decision of the gateway.',
    example: 'parentbased_traceidratio',
  }),
  OTEL_TRACES_SAMPLER_ARG: z.string().optional().meta({
    description: 'The share of calls that `traceidratio` traces, from 0 to 1. If unset, all.',
    example: '0.05',
  }),
};

export interface ObservabilityOptions extends z.infer<z.ZodObject<typeof observabilitySettings>> {
  /** The name of the app in logs and traces. */
  app: string;
}

export const OBSERVABILITY_OPTIONS = Symbol('observability options');
