import { OutboxRepository } from '#persistence';
import { ProviderSlots, type Slot } from '#queue';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';

export interface WaitingRun {
  runId: string;
  slot: Slot;
}

/**
 * The concurrency slots for submissions, and the runs that wait for one. They wait in their outbox rows, without a job:
 * a provider whose calls hang costs nothing while thousands of runs wait for it. Slots are given by turns of
 * workspaces, and one of them never gets the last quarter, so that another one's run need not wait.
 */
@Injectable()
export class WaitingLine {
  private readonly slots: ProviderSlots;
  /** How many slots of a provider a workspace may hold here. */
  private readonly maxHeld: number;
  private readonly awaited = new Set<string>();

  constructor(
    private readonly outbox: OutboxRepository,
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'WORKER_DISPATCH_CONCURRENCY' | 'CLAIM_LEASE_MS'>,
  ) {
    const slots = settings.WORKER_DISPATCH_CONCURRENCY;
    this.slots = new ProviderSlots(slots);
    this.maxHeld = Math.max(1, Math.min(slots - 1, Math.ceil(slots * 0.75)));
  }

  /** A slot for a run that has just arrived; null when it has to wait, or others do. Its workspace is not known yet. */
  acquire(provider: string): Slot | null {
    return this.awaited.has(provider) ? null : this.slots.acquire(provider, this.maxHeld);
  }

  /** From now on the run waits, and its job may end. */
  async join(provider: string, runId: string): Promise<void> {
    await this.outbox.wait(runId);
    // The mark is set only after the row is written: a read that found the line empty meanwhile would have cleared it.
    this.awaited.add(provider);
  }

  /** Whether runs may wait for this provider. */
  isAwaited(provider: string): boolean {
    return this.awaited.has(provider);
  }

  /** Finds providers for which runs wait in the database because another worker turned them away, or left them behind. */
  async findAwaited(): Promise<string[]> {
    const providers = await this.outbox.awaitedProviders();
    for (const provider of providers) this.awaited.add(provider);
    return providers;
  }

  /** The next runs to dispatch, each with its slot: as many as there are free slots, and as may have one. */
  async next(provider: string): Promise<WaitingRun[]> {
    const free: Slot[] = [];
    for (let slot; (slot = this.slots.acquire(provider)) !== null;) free.push(slot);
    if (free.length === 0) return [];
    try {
      const { byWorkspace, unknown } = this.slots.held(provider);
      const { runs, othersWait } = await this.outbox.takeWaiting(provider, byWorkspace, {
        // A run that is being claimed may belong to any workspace; the slots that were just taken have no run yet.
        maxHeld: this.maxHeld - (unknown - free.length),
        restMs: this.settings.CLAIM_LEASE_MS,
        limit: free.length,
      });
      if (!othersWait) this.awaited.delete(provider);
      return free.splice(0, runs.length).map((slot, nth) => {
        const { runId = '', workspaceId = null } = runs[nth] ?? {};
        return { runId, slot: Object.assign(slot, { workspaceId }) };
      });
    } finally {
      for (const slot of free) slot.release();
    }
  }
}
