import { every, LOG, type Log, Metrics, type PeriodicWork } from '#observability';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Database } from './database.js';

const measureEveryMs = 30_000;
/** Polls that are early or late by this much do no harm. */
const maxSkewMs = 2000;
/** A slower answer says too little about the moment at which it was given. */
const maxRoundTripMs = 1000;
/** The first query pays for its connection too. */
const bootAttempts = 5;

/**
 * How far this process's clock is from the database's. What SQL compares is the database's time, but the queue compares
 * the `Date.now` of its users: a worker that is ten minutes ahead finds every delayed poll due. So a process whose
 * clock is off is not ready, and a worker takes no job.
 */
@Injectable()
export class ClockSkew implements OnModuleInit, OnModuleDestroy {
  /** The fault of the clock in plain words; undefined while there is none. */
  problem: string | undefined;
  /** Called when the clock has become wrong or right. */
  onChange: (() => void) | undefined;
  private measuring: PeriodicWork | undefined;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
    @Inject(LOG) private readonly log: Log,
  ) {}

  async onModuleInit(): Promise<void> {
    const onError = (error: unknown) => this.log.warn({ error }, "the database's clock could not be read");
    for (let attempt = 1; attempt <= bootAttempts; attempt += 1)
      if (await this.measure().catch(onError)) break;
    this.measuring = every(measureEveryMs, () => this.measure(), { onError });
  }

  async onModuleDestroy(): Promise<void> {
    await this.measuring?.stop();
  }

  /** False when the answer came too slowly to say anything. */
  async measure(): Promise<boolean> {
    const sentAtMs = Date.now();
    const [row] = await this.database.reads.query<{ now: number }>(
      // Not router_now(), whose offset tests set: the queue compares real times.
      'SELECT extract(epoch FROM clock_timestamp())::float * 1000 AS now',
    );
    const answeredAtMs = Date.now();
    if (!row || answeredAtMs - sentAtMs > maxRoundTripMs) return false;
    this.judge((sentAtMs + answeredAtMs) / 2 - row.now);
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
