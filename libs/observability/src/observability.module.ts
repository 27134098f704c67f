import { ConfigurableModuleBuilder, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { InternalServer } from './internal-server.js';
import { createLog, type Log, LOG } from './log.js';
import { Metrics } from './metrics.js';
import { release } from './release.js';
import { OBSERVABILITY_OPTIONS, type ObservabilityOptions } from './settings.js';
import { noTracing, TRACING, type Tracing } from './tracing.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<ObservabilityOptions>({
  optionsInjectionToken: OBSERVABILITY_OPTIONS,
})
  .setClassMethodName('forRoot')
  .build();

/** The log, metrics and traces of a process, and the internal listener that serves metrics and probes. */
@Module({
  providers: [
    Metrics,
    InternalServer,
    {
      provide: LOG,
      inject: [OBSERVABILITY_OPTIONS, Metrics],
      useFactory: ({ app, LOG_LEVEL, LOG_MAX_WAITING_BYTES }: ObservabilityOptions, metrics: Metrics) => {
        const log = createLog(app, LOG_LEVEL, {
          maxWaitingBytes: LOG_MAX_WAITING_BYTES,
          onDropped: (lines) => metrics.droppedLogLines.inc(lines),
        });
        const { version, revision, builtAt: built_at } = release;
        log.info({ version, revision, built_at, node: process.versions.node }, `${app} is starting`);
        return log;
      },
    },
    {
      provide: TRACING,
      inject: [OBSERVABILITY_OPTIONS, LOG],
      useFactory: createTracing,
    },
  ],
  exports: [Metrics, InternalServer, LOG, TRACING],
})
export class ObservabilityModule extends ConfigurableModuleClass implements OnApplicationShutdown {
  constructor(@Inject(TRACING) private readonly tracing: Tracing) {
    super();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.tracing.close();
  }
}

/** Tracing is off unless a collector is configured. */
async function createTracing(settings: ObservabilityOptions, log: Log): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = settings;
  if (endpoint === undefined) return noTracing;
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing(endpoint, settings, (message) => log.warn({}, message));
}
