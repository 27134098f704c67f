import type { Log, Metrics } from '#observability';
import type {
  OutboxRepository,
  Load,
  ProviderPause,
  ProviderPauseRepository,
  StoredObjectRepository,
  UnneededObjects,
} from '#persistence';
import type { LaneCounts, Transport } from '#queue';
import type { Progress } from './progress.js';

const microsPerDollar = 1_000_000;

interface GaugeSources {
  deliveries: Pick<OutboxRepository, 'load'>;
  pauses: Pick<ProviderPauseRepository, 'standing'>;
  objects: Pick<StoredObjectRepository, 'unneeded'>;
  transport: Pick<Transport, 'counts'>;
  progress: Progress;
}

/**
 * Reads what is live from the database and the transport. Every worker says the same, so that losing one loses
 * no series; a dashboard takes the maximum.
 */
export class Gauges {
  private timer: NodeJS.Timeout | undefined;
  private under: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly read: GaugeSources,
    private readonly everyMs: number,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  start(): void {
    this.under = this.round();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.under;
  }

  private async round(): Promise<void> {
    try {
      this.setLoad(await this.read.deliveries.load());
      this.setPauses(await this.read.pauses.standing());
      this.setJobs(await this.read.transport.counts());
      this.setObjects(await this.read.objects.unneeded());
    } catch (error) {
      this.log.warn({ error }, 'gauges could not be read');
    }
    if (!this.stopped) this.timer = setTimeout(() => this.start(), this.everyMs).unref();
  }

  private setLoad(load: readonly Load[]): void {
    const { inflightRuns, oldestJobSeconds, committedDollars, heldDollars } = this.metrics;
    inflightRuns.reset();
    oldestJobSeconds.reset();
    oldestJobSeconds.set({ queue: 'parked' }, 0);
    let parkedMicros = 0;
    let heldMicros = 0;
    for (const { provider, state, runs, oldestSeconds, reservedMicros } of load) {
      inflightRuns.set({ provider, state }, runs);
      if (state === 'waiting') oldestJobSeconds.set({ queue: `dispatch-${provider}` }, oldestSeconds);
      if (state === 'parked') parkedMicros += reservedMicros;
      heldMicros += reservedMicros;
    }
    const parked = load.filter(({ state }) => state === 'parked').map(({ oldestSeconds }) => oldestSeconds);
    oldestJobSeconds.set({ queue: 'parked' }, Math.max(0, ...parked));
    committedDollars.set((heldMicros - parkedMicros) / microsPerDollar);
    heldDollars.set(heldMicros / microsPerDollar);
  }

  private setPauses(standing: readonly ProviderPause[]): void {
    this.metrics.pausedProviders.reset();
    for (const { provider, calls, askedBy } of standing)
      this.metrics.pausedProviders.set({ provider, calls, asked_by: askedBy }, 1);
  }

  private setObjects({ inDoubt, leftBehind }: UnneededObjects): void {
    this.metrics.storedObjects.set({ state: 'in_doubt' }, inDoubt);
    this.metrics.storedObjects.set({ state: 'left_behind' }, leftBehind);
  }

  private setJobs(counts: readonly LaneCounts[]): void {
    for (const lane of counts) {
      const queue = lane.provider === null ? lane.lane : `${lane.lane}-${lane.provider}`;
      for (const state of ['waiting', 'active', 'delayed'] as const) {
        this.metrics.queueJobs.set({ queue, state }, lane[state]);
      }
    }
    const waiting = counts.reduce((sum, lane) => sum + lane.waiting, 0);
    this.read.progress.noteWaiting(waiting);
  }
}
