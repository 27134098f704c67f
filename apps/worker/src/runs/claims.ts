import { every, type Log, LOG, type PeriodicWork } from '#observability';
import { type Claim, RunRepository } from '#persistence';
import type { JobResult } from '#queue';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';

export type Claimed = Extract<Claim, { kind: 'claimed' }>;

/** When a run that crashed before looks again whether it may be dispatched. */
const suspectRetryMs = 1_000;

/**
 * The claims of this worker, whose leases are kept alive while their submissions are in the air: one statement for all.
 * A run whose worker died before may be what killed it. Such runs are dispatched one at a time, so that a crash says
 * which of them it was; they keep nobody else waiting.
 */
@Injectable()
export class Claims implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly held = new Set<{ runId: string; epoch: number }>();
  private hasSuspect = false;
  private renewal: PeriodicWork | undefined;

  constructor(
    private readonly runs: RunRepository,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(LOG) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    this.renewal = every(this.settings.CLAIM_LEASE_MS / 3, () => this.renew(), {
      onError: (error) => this.log.warn({ error, claims: this.held.size }, 'leases could not be renewed'),
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.renewal?.stop();
  }

  claim(runId: string): Promise<Claim> {
    return this.runs.claimRun(runId, this.settings.CLAIM_LEASE_MS);
  }

  /** Does the work while the claim's lease is renewed, or gives the claim back when its run has to wait. */
  async during<Result>(
    runId: string,
    claim: Claimed,
    work: () => Promise<Result>,
  ): Promise<JobResult | Result> {
    const isSuspect = claim.crashes > 0;
    if (isSuspect && this.hasSuspect) {
      const delayMs = await this.runs.postpone(runId, claim.epoch, suspectRetryMs);
      return delayMs === null ? { kind: 'done' } : { kind: 'retry', delayMs };
    }
    const held = { runId, epoch: claim.epoch };
    this.held.add(held);
    if (isSuspect) this.hasSuspect = true;
    try {
      return await work();
    } finally {
      this.held.delete(held);
      if (isSuspect) this.hasSuspect = false;
    }
  }

  private async renew(): Promise<void> {
    if (this.held.size > 0) await this.runs.renewLeases([...this.held], this.settings.CLAIM_LEASE_MS);
  }
}
