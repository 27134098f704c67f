import { randomUUID } from 'node:crypto';
import { type Log, LOG, Metrics } from '#observability';
import {
  type DeliveredRun,
  type JobResult,
  maxSlotless,
  QueueModule,
  RunProcessor,
  RunQueues,
  type QueueSettings,
  queueSettings,
  RunSignals,
} from '#queue';
import { Slots } from '../../apps/worker/src/slots.js';
import { readSettings } from '#schemas';
import { signingSettings } from '#storage';
import { Processor } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { z } from 'zod';
import type { QueuedRun } from '../../libs/queue/src/run-queues.js';
import type { TcpProxy, TransportKind } from '../harness/index.js';
import { openRows, rowQueue, type Rows } from './rows.js';
import { until } from './until.js';
import { wiped } from './wiped.js';

type Handler = (runId: string, signal: AbortSignal, mayHaveCrashed: boolean) => Promise<JobResult>;

interface Consumption {
  handle: Handler;
  slots: Slots;
}

/** Passes each run to the handler of its provider, within that provider's slots. */
abstract class TestProcessor extends RunProcessor {
  closeGraceMs = 0;
  readonly byProvider = new Map<string, Consumption>();
  /** Set without Redis. */
  rows: Rows | undefined;

  protected async handle(
    { runId, provider, mayHaveCrashed }: DeliveredRun,
    signal: AbortSignal,
  ): Promise<JobResult> {
    const consumption = this.byProvider.get(provider);
    if (!consumption) return { kind: 'retry', delayMs: 200 };
    return consumption.slots.during(provider, signal, async () => {
      const result = await consumption.handle(runId, signal, mayHaveCrashed);
      if (result.kind === 'done') await this.rows?.end(runId);
      return result;
    });
  }
}
@Processor('poll', { concurrency: maxSlotless })
class PollProcessor extends TestProcessor {
  readonly queue = 'poll';
}
@Processor('assets')
class AssetsProcessor extends TestProcessor {
  readonly queue = 'assets';
}
@Processor('webhooks')
class WebhooksProcessor extends TestProcessor {
  readonly queue = 'webhooks';
}
const processors = { poll: PollProcessor, assets: AssetsProcessor, webhooks: WebhooksProcessor };

class Lines {
  readonly lines: string[] = [];
  info = (_facts: object, message: string) => void this.lines.push(`info ${message}`);
  warn = (_facts: object, message: string) => void this.lines.push(`warn ${message}`);
  error = (_facts: object, message: string) => void this.lines.push(`error ${message}`);
}

const settingsOfQueue = { ...queueSettings, ...signingSettings, DATABASE_URL: z.string().optional() };

/** The queues of one process, as an app has them. */
export interface QueueApp {
  queues: RunQueues;
  signals: RunSignals;
  /** Makes runs due as the service does: as jobs, or in their rows. True for each accepted run. */
  enqueue(runs: readonly QueuedRun[]): Promise<boolean[]>;
  runNow(runId: string): Promise<void>;
  takeRuns(isTaking: boolean): void;
  /** Runs that are due or in progress; null while the server is down. */
  left(): Promise<number | null>;
  /** Handles the provider's runs from now on, at most `concurrency` at once. */
  consume(provider: string, handle: Handler, concurrency?: number, queue?: keyof typeof processors): void;
  /** Running handlers may continue for `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

const sealing = { SIGNING_SECRET: 'a-secret-of-the-bench-00000000000' };

export async function openQueues(
  environment: Record<string, string>,
  log: Lines = new Lines(),
): Promise<QueueApp> {
  const settings: QueueSettings = readSettings(settingsOfQueue, { ...sealing, ...environment });
  @Module({
    providers: [Metrics, { provide: LOG, useValue: log }],
    exports: [Metrics, LOG],
  })
  class LogModule {}
  @Module({
    imports: [LogModule, QueueModule.forRootAsync({ imports: [LogModule], useFactory: () => settings })],
    providers: Object.values(processors),
  })
  class App {}
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  const all = Object.values(processors).map((each) => app.get<TestProcessor>(each));
  const queues = app.get(RunQueues);
  const [poll, assets, webhooks] = all as [TestProcessor, TestProcessor, TestProcessor];
  const { REDIS_URL, DATABASE_URL = '' } = settings;
  const rows =
    REDIS_URL === undefined
      ? openRows(DATABASE_URL, settings, {
          queues,
          poll,
          assets,
          webhooks,
          metrics: app.get(Metrics),
          log: app.get<Log>(LOG),
        })
      : undefined;
  for (const processor of all) processor.rows = rows;
  const takeRuns = (isTaking: boolean) => {
    queues.takeJobs(isTaking);
    rows?.takeRuns(isTaking);
  };
  let closing: Promise<void> | undefined;
  return {
    queues,
    signals: app.get(RunSignals),
    enqueue: (runs) => (rows ? rows.enqueue(runs) : queues.enqueue(runs)),
    runNow: (runId) => (rows ? rows.runNow(runId) : queues.runNow('webhooks', runId)),
    left: async () => {
      if (rows) return rows.count();
      const counts = await queues.counts();
      const of = (states: (typeof counts)[number]) => states.waiting + states.active + states.delayed;
      return counts.length === 0 ? null : counts.reduce((sum, states) => sum + of(states), 0);
    },
    consume: (provider, handle, concurrency = 10, queue = 'webhooks') => {
      const { byProvider } = app.get<TestProcessor>(processors[rows ? rowQueue(queue) : queue]);
      byProvider.set(provider, { handle, slots: new Slots({ max: concurrency }) });
      if (!queues.isTaking) takeRuns(true);
    },
    takeRuns,
    close: (graceMs = 0) => {
      for (const processor of all) processor.closeGraceMs = graceMs;
      closing ??= (rows?.close(graceMs) ?? Promise.resolve()).then(() => app.close());
      return closing;
    },
  };
}

/** The command timeout of a deployment; the other cases have one that even a busy machine keeps. */
export const shortCommandTimeout = { QUEUE_COMMAND_TIMEOUT_MS: '500' };

/** The queues of one test on one server; `clear` closes what the test opened. */
export class Bench {
  private readonly open: QueueApp[] = [];
  readonly log = new Lines();

  constructor(
    readonly kind: TransportKind,
    readonly url: string,
  ) {}

  environment(changes: Record<string, string> = {}, proxy?: TcpProxy): Record<string, string> {
    const name = this.kind === 'redis' ? 'REDIS_URL' : 'DATABASE_URL';
    const url = new URL(this.url);
    if (proxy) url.port = `${proxy.port}`;
    return {
      [name]: url.href,
      QUEUE_COMMAND_TIMEOUT_MS: '5000',
      ...changes,
    };
  }

  /** Queues that reach the server through `proxy` if it is given. */
  async queues(changes: Record<string, string> = {}, proxy?: TcpProxy): Promise<QueueApp> {
    const app = await openQueues(this.environment(changes, proxy), this.log);
    this.open.push(app);
    return app;
  }

  /** Deletes everything that the queue stores on the server. */
  wipe = (): Promise<void> => wiped(this.kind, this.url);

  async clear(): Promise<void> {
    await Promise.all(this.open.splice(0).map((app) => app.close()));
  }
}

/** Queues on a server for one test file, which are closed and emptied after each test; call it in a `describe`. */
export function benchOn<Server extends { readonly url: string; stop(): Promise<void> }>(
  kind: TransportKind,
  start: (kind: TransportKind) => Promise<Server>,
): { bench: () => Bench; server: () => Server } {
  let server: Server;
  let bench: Bench;
  beforeAll(async () => {
    server = await start(kind);
    bench = new Bench(kind, server.url);
  });
  afterEach(async () => {
    await bench.clear();
    await bench.wipe();
    bench.log.lines.length = 0;
  });
  afterAll(() => server.stop());
  return { bench: () => bench, server: () => server };
}

/** A provider that no other test uses. */
export const newProvider = () => `p${randomUUID().slice(0, 8)}`;
export const newRunId = () => randomUUID();

export async function enqueueOne(
  app: QueueApp,
  provider: string,
  runId: string,
  delayMs = 0,
): Promise<boolean> {
  const [accepted] = await app.enqueue([{ queue: 'webhooks', provider, runId, delayMs }]);
  return accepted ?? false;
}

/** `count` runs of one provider, due at once. */
export const newRuns = (count: number, provider: string): QueuedRun[] =>
  Array.from({ length: count }, () => ({ queue: 'webhooks', provider, runId: newRunId(), delayMs: 0 }));

/**
 * Enqueues until each run was accepted: a run that is not accepted in time is enqueued again, as the reconciler
 * does.
 */
export async function enqueueAll(app: QueueApp, runs: readonly QueuedRun[]): Promise<void> {
  let open = runs;
  await until(async () => {
    const accepted = await app.enqueue(open);
    open = open.filter((_, index) => !accepted[index]);
    return open.length === 0;
  }, 60_000);
}

/** Publishes until the signal arrives, because the first ones may come before the subscriber has subscribed. */
export const publishUntil = (
  app: QueueApp,
  runId: string,
  heard: () => boolean,
  withinMs: number,
): Promise<number> =>
  until(async () => {
    await app.signals.publish(runId);
    return heard();
  }, withinMs);
