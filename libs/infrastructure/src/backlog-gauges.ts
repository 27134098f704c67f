import { every, Metrics, type PeriodicWork } from '#observability';
import {
  type BackupState,
  backupState,
  Database,
  DatabaseOutage,
  dispatchCounts,
  type Load,
  OutboxRepository,
  type ProviderHealth,
  ProviderHealthRepository,
  StoredObjectRepository,
  type UnneededObjects,
  WebhookRepository,
} from '#persistence';
import { type QueueCounts, RunQueues } from '#queue';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';

/** Short enough for fresh values at each scrape, usually every 15 s or more, and cheap for the database. */
const everyMs = 10_000;
const microsPerDollar = 1_000_000;

/**
 * Reads the load, the providers' states, stored objects and webhooks from the database and the jobs from the queues. Every
 * gateway and worker reports the same values, because the backlog matters most when all workers are gone;
 * rules and dashboards take the maximum. A process that could not read them reports none.
 */
@Injectable()
export class BacklogGauges implements OnApplicationBootstrap, OnModuleDestroy {
  private rounds: PeriodicWork | undefined;

  constructor(
    private readonly database: Database,
    private readonly outbox: OutboxRepository,
    private readonly health: ProviderHealthRepository,
    private readonly objects: StoredObjectRepository,
    private readonly webhooks: WebhookRepository,
    private readonly queues: RunQueues,
    private readonly metrics: Metrics,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds = every(everyMs, () => this.round(), {
      onError: (error) => {
        this.clear();
        this.outage.warn({ error }, 'could not read the gauges, retrying');
      },
      immediately: true,
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.rounds?.stop();
  }

  private async round(): Promise<void> {
    const load = await this.outbox.load();
    this.setLoad(load);
    this.setJobs([dispatchCounts(load), ...(await this.queues.counts())]);
    this.setProviders(await this.health.list());
    this.setObjects(await this.objects.unneeded());
    const { oldestOverdueSeconds, oldestDueWebhookSeconds, oldestTransactionSeconds } = this.metrics;
    oldestOverdueSeconds.set(await this.outbox.oldestOverdueSeconds());
    oldestDueWebhookSeconds.set(await this.webhooks.oldestDueSeconds());
    oldestTransactionSeconds.set(await this.database.oldestTransactionSeconds());
    this.setBackups(await backupState(this.database));
  }

  /** The last values would look like the current ones. */
  private clear(): void {
    const { inflightRuns, oldestJobSeconds, queueJobs, pausedProviders, providerStates, storedObjects } =
      this.metrics;
    for (const gauge of [
      inflightRuns,
      oldestJobSeconds,
      queueJobs,
      pausedProviders,
      providerStates,
      storedObjects,
    ])
      gauge.reset();
    const { committedDollars, heldDollars } = this.metrics;
    const { oldestOverdueSeconds, oldestDueWebhookSeconds, oldestTransactionSeconds } = this.metrics;
    this.setBackups({ lastSeconds: null, logStreams: null });
    for (const gauge of [
      committedDollars,
      heldDollars,
      oldestOverdueSeconds,
      oldestDueWebhookSeconds,
      oldestTransactionSeconds,
    ])
      gauge.remove();
  }

  private setLoad(load: readonly Load[]): void {
    const { inflightRuns, oldestJobSeconds, committedDollars, heldDollars } = this.metrics;
    inflightRuns.reset();
    oldestJobSeconds.reset();
    let parkedMicros = 0;
    let heldMicros = 0;
    for (const { provider, state, runs, waitedSeconds, reservedMicros } of load) {
      inflightRuns.set({ provider, state }, runs);
      if (state === 'waiting') oldestJobSeconds.set({ queue: `dispatch-${provider}` }, waitedSeconds);
      if (state === 'parked') parkedMicros += reservedMicros;
      heldMicros += reservedMicros;
    }
    const parked = load.filter(({ state }) => state === 'parked').map(({ oldestSeconds }) => oldestSeconds);
    oldestJobSeconds.set({ queue: 'parked' }, Math.max(0, ...parked));
    committedDollars.set((heldMicros - parkedMicros) / microsPerDollar);
    heldDollars.set(heldMicros / microsPerDollar);
  }

  private setJobs(counts: readonly (QueueCounts | ReturnType<typeof dispatchCounts>)[]): void {
    // While Redis is down, it has no counts.
    this.metrics.queueJobs.reset();
    for (const { queue, ...states } of counts)
      for (const state of ['waiting', 'active', 'delayed'] as const)
        this.metrics.queueJobs.set({ queue, state }, states[state]);
  }

  private setProviders(providers: readonly ProviderHealth[]): void {
    const { pausedProviders, providerStates } = this.metrics;
    pausedProviders.reset();
    providerStates.reset();
    for (const { provider, state, pauses } of providers) {
      if (state !== null) providerStates.set({ provider, state }, 1);
      for (const { calls, askedBy } of pauses) pausedProviders.set({ provider, calls, asked_by: askedBy }, 1);
    }
  }

  private setBackups({ lastSeconds, logStreams }: BackupState): void {
    const { lastBackupAt, backupLogStreams } = this.metrics;
    if (lastSeconds === null) lastBackupAt.remove();
    else lastBackupAt.set(lastSeconds);
    if (logStreams === null) backupLogStreams.remove();
    else backupLogStreams.set(Number(logStreams));
  }

  private setObjects({ inDoubt, leftBehind }: UnneededObjects): void {
    this.metrics.storedObjects.set({ state: 'in_doubt' }, inDoubt);
    this.metrics.storedObjects.set({ state: 'left_behind' }, leftBehind);
  }
}
