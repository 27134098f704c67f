import { type Log, LOG, Metrics, settlesWithin } from '#observability';
import { BullModule } from '@nestjs/bullmq';
import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { type QueueBaseOptions, setDefaultBackendFactory } from 'bullmq';
import { PostgresBackend } from './postgres-backend.js';
import { QueueBackend } from './queue-backend.js';
import { RedisBackend } from './redis-backend.js';
import { queueNames, RunQueues } from './run-queues.js';
import { RunSignals } from './run-signals.js';
import { RunWorker } from './run-worker.js';
import type { QueueSettings } from './settings.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<QueueSettings>().setClassMethodName('forRoot').build();

// Static, as BullMQ and @nestjs/bullmq want it; what differs between processes travels as the `connection`.
BullModule.workerClass = RunWorker as never;
setDefaultBackendFactory((name, options: QueueBaseOptions, uses) =>
  (options.connection as unknown as QueueBackend).create(name, options, uses),
);

@Module({
  providers: [
    {
      provide: QueueBackend,
      inject: [MODULE_OPTIONS_TOKEN, LOG, Metrics],
      useFactory: openBackend,
    },
  ],
  exports: [QueueBackend],
})
class QueueBackendModule extends ConfigurableModuleClass implements OnApplicationShutdown {
  constructor(private readonly backend: QueueBackend) {
    super();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.backend.close();
  }
}

/**
 * The queues of runs and their signals. Processors extend `RunProcessor`; they take no job before
 * `BullRegistrar.register()`. Needs the log and the metrics of an imported `ObservabilityModule`.
 */
@Module({})
export class QueueModule {
  static forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    const backend = QueueBackendModule.forRootAsync(options);
    return {
      module: QueueModule,
      imports: [
        backend,
        BullModule.forRootAsync({
          imports: [backend],
          inject: [QueueBackend],
          useFactory: queueOptions,
          extraOptions: { manualRegistration: true },
        }),
        // Braces make the name the hash tag: all keys of a queue share a slot of a Redis Cluster.
        BullModule.registerQueue(...queueNames.map((name) => ({ name, prefix: `{mr:${name}}` }))),
      ],
      providers: [
        RunQueues,
        { provide: RunSignals, inject: [QueueBackend], useFactory: ({ signals }: QueueBackend) => signals },
      ],
      exports: [RunQueues, RunSignals],
    };
  }
}

/**
 * Redis when `REDIS_URL` is set, else the database. A server that is away does not stop the start: the queues recover
 * when it comes.
 */
async function openBackend(settings: QueueSettings, log: Log, metrics: Metrics): Promise<QueueBackend> {
  if (settings.REDIS_URL !== undefined) return new RedisBackend(settings, settings.REDIS_URL, log, metrics);
  const url = settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL;
  if (url === undefined)
    throw new Error('Set REDIS_URL or DATABASE_URL: something has to carry the run ids.');
  const backend = new PostgresBackend(settings, url, log, metrics);
  // Spares the first runs of a normal start the detour over the reconciler.
  await settlesWithin(backend.migrated, settings.QUEUE_COMMAND_TIMEOUT_MS);
  return backend;
}

function queueOptions(backend: QueueBackend): QueueBaseOptions {
  return {
    connection: backend as never,
    // Nobody reads the event stream.
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  } as QueueBaseOptions;
}
