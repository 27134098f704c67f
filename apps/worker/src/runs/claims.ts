import { SETTINGS } from '#infrastructure';
import { every, type PeriodicWork } from '#observability';
import { DatabaseOutage, DispatchRepository, type TakenRun } from '#persistence';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { WorkerSettings } from '../settings.js';

/**
 * The claims of this worker. One statement renews the leases of all submissions in flight. A run whose worker
 * died before is a suspect, because it may have caused the crash. Suspects are dispatched one at a time, so
 * that another crash identifies the run; they do not delay other runs.
 */
@Injectable()
export class Claims implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly held = new Set<{ runId: string; epoch: number }>();
  private hasSuspect = false;
  private renewal: PeriodicWork | undefined;

  constructor(
    private readonly runs: DispatchRepository,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.renewal = every(this.settings.CLAIM_LEASE_MS / 3, () => this.renew(), {
      onError: (error) =>
        this.outage.warn(
          { error, claims: this.held.size },
          'could not renew the leases of submissions, retrying',
        ),
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.renewal?.stop();
  }

  /** Renews the claim's lease until it is disposed of. Null if the run must wait for another suspect. */
  hold({ runId, epoch, crashes }: TakenRun): Disposable | null {
    const isSuspect = crashes > 0;
    if (isSuspect && this.hasSuspect) return null;
    const held = { runId, epoch };
    this.held.add(held);
    if (isSuspect) this.hasSuspect = true;
    return {
      [Symbol.dispose]: () => {
        this.held.delete(held);
        if (isSuspect) this.hasSuspect = false;
      },
    };
  }

  private async renew(): Promise<void> {
    if (this.held.size > 0) await this.runs.renewLeases([...this.held], this.settings.CLAIM_LEASE_MS);
  }
}
