import { every, LOG, type Log, Metrics, type PeriodicWork } from '#observability';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Database } from './database.js';
import { DatabaseOutage } from './database-outage.js';

const measureEveryMs = 30_000;
/** Polls that are this early or late do no harm. */
const maxSkewMs = 2000;
/** A slower reply says too little about the time at which the clock was read. */
const maxRoundTripMs = 1000;
/** The first query also opens a connection, so it may be too slow. */
const bootAttempts = 5;

/**
 * Measures the difference between this process's clock and the database's. SQL uses the database's time, but the
 * queue uses `Date.now()` of its clients, so a worker whose clock is ten minutes fast would find every delayed poll
 * due. A process whose clock is off is therefore not ready, and a worker takes no jobs.
 */
@Injectable()
export class ClockSkew implements OnModuleInit, OnModuleDestroy {
  /** Describes what is wrong with the clock. Undefined while it is right. */
  problem: string | undefined;
  /** How far the database's `router_now()` is ahead of this machine's clock. */
  private aheadMs = 0;
  /** Called when the clock becomes wrong, or right again. */
  onChange: (() => void) | undefined;
  private measuring: PeriodicWork | undefined;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
    @Inject(LOG) private readonly log: Log,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  async onModuleInit(): Promise<void> {
    const onError = (error: unknown) => this.outage.warn({ error }, "could not read the database's clock");
    for (let attempt = 1; attempt <= bootAttempts; attempt += 1)
      if (await this.measure().catch(onError)) break;
    this.measuring = every(measureEveryMs, () => this.measure(), { onError });
  }

  async onModuleDestroy(): Promise<void> {
    await this.measuring?.stop();
  }

  /** The database's time, as far as it was measured: within a second of `router_now()`. */
  databaseNowMs(): number {
    return Date.now() + this.aheadMs;
  }

  /** Measures the skew once. False if the reply was too slow to be useful. */
  async measure(): Promise<boolean> {
    const sentAtMs = Date.now();
    const [row] = await this.database.reads.query<{ now: number; routerNow: number }>(
      // The skew is not judged by router_now(): tests shift it, and the queue uses real times.
      `SELECT extract(epoch FROM clock_timestamp())::float * 1000 AS now,
        extract(epoch FROM router_now())::float * 1000 AS "routerNow"`,
    );
    const answeredAtMs = Date.now();
    if (!row || answeredAtMs - sentAtMs > maxRoundTripMs) return false;
    const readAtMs = (sentAtMs + answeredAtMs) / 2;
    this.aheadMs = row.routerNow - readAtMs;
    this.judge(readAtMs - row.now);
    return true;
  }

  private judge(skewMs: number): void {
    this.metrics.clockSkewSeconds.set(skewMs / 1000);
    const before = this.problem;
    const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
    this.problem =
      Math.abs(skewMs) > maxSkewMs
        ? `this machine's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`
        : undefined;
    if (this.problem !== undefined) this.log.error({ skew_ms: skewMs }, `not ready: ${this.problem}`);
    else if (before !== undefined) this.log.info({ skew_ms: skewMs }, "this machine's clock is right again");
    if ((before === undefined) !== (this.problem === undefined)) this.onChange?.();
  }
}
