import { z } from 'zod';

export const observabilitySettings = {
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info').meta({
    description: 'Lines below this level are not written.',
    example: 'info',
  }),
  LOG_MAX_WAITING_BYTES: z.coerce.number().int().positive().default(16_777_216).meta({
    description:
      'So many bytes of the log wait while nobody reads it. Further lines are dropped, counted, and reported in a line.',
    example: '16777216',
  }),
  INTERNAL_HOST: z.string().default('127.0.0.1').meta({
    description: 'Address of the listener for metrics and probes; never the public one.',
    example: '0.0.0.0',
  }),
  INTERNAL_PORT: z.coerce.number().int().min(0).max(65535).default(0).meta({
    description: 'Port of the listener for metrics and probes; 0 takes any free one.',
    example: '9464',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
    .optional()
    .meta({
      description:
        'Collector that traces are sent to, by OTLP over HTTP; /v1/traces is appended. Absent: nothing is traced.',
      example: 'http://collector.monitoring:4318',
    }),
};

export interface ObservabilityOptions extends z.infer<z.ZodObject<typeof observabilitySettings>> {
  /** The name of the app in logs and traces. */
  app: string;
}

export const OBSERVABILITY_OPTIONS = Symbol('observability options');
