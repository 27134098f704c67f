import { type Log, LOG, Metrics } from '#observability';
import { BullModule, BullRegistrar } from '@nestjs/bullmq';
import { ConfigurableModuleBuilder, Module, type OnApplicationShutdown } from '@nestjs/common';
import { PostgresQueues } from './postgres-queues.js';
import { RedisQueues } from './redis-queues.js';
import { RunQueues } from './run-queues.js';
import { RunSignals } from './run-signals.js';
import { RunStreams } from './run-streams.js';
import type { QueueSettings } from './settings.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<QueueSettings>()
  .setClassMethodName('forRoot')
  .build();

/**
 * The queues tell workers which runs are due, and the signals tell callers which runs have changed.
 * Processors extend `RunProcessor` and take no job before `RunQueues.takeJobs`. Needs the log and metrics of
 * an imported `ObservabilityModule`.
 */
@Module({
  imports: [
    // Each BullMQ worker opens its own connection. Without Redis there are no BullMQ workers or queues.
    BullModule.forRoot({ connection: {}, extraOptions: { manualRegistration: true } }),
    BullModule.registerQueue(),
  ],
  providers: [
    {
      provide: RunQueues,
      inject: [MODULE_OPTIONS_TOKEN, LOG, Metrics, BullRegistrar],
      useFactory: openQueues,
    },
    { provide: RunSignals, inject: [RunQueues], useFactory: ({ signals }: RunQueues) => signals },
    { provide: RunStreams, inject: [RunQueues], useFactory: ({ streams }: RunQueues) => streams },
  ],
  exports: [RunQueues, RunSignals, RunStreams],
})
export class QueueModule extends ConfigurableModuleClass implements OnApplicationShutdown {
  constructor(private readonly queues: RunQueues) {
    super();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.queues.close();
  }
}

/**
 * Uses Redis if `REDIS_URL` is set, otherwise the database. The server may be down at startup; the queues
 * recover when it is up.
 */
function openQueues(
  settings: QueueSettings,
  log: Log,
  metrics: Metrics,
  registrar: BullRegistrar,
): RunQueues {
  if (settings.REDIS_URL !== undefined)
    return new RedisQueues(settings, settings.REDIS_URL, log, metrics, registrar);
  const url = settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL;
  if (url === undefined)
    throw new Error('Set REDIS_URL or DATABASE_URL: workers need one of them to learn about runs.');
  return new PostgresQueues(settings, url, log);
}
