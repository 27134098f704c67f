import type { RouterError } from '#errors';
import { type Metrics, Shares } from '#observability';

interface Refusals {
  /** The label of the metric. */
  reason: string;
  /** For a workspace whose own use is why nothing is left for it: a 429. */
  own: () => RouterError;
  /** For one that others leave nothing: a 503. */
  others: () => RouterError;
}

/** Shares something that a gateway has little of among workspaces. */
export class WorkspaceShares {
  private readonly shares: Shares;

  constructor(
    max: number,
    private readonly refusals: Refusals,
    private readonly metrics: Metrics,
  ) {
    this.shares = new Shares(max);
    metrics.refusals.inc({ reason: refusals.reason }, 0);
  }

  /** Throws the refusal if the workspace would exceed its share. */
  take(workspaceId: string, amount = 1): void {
    if (this.shares.take(workspaceId, amount)) return;
    const { reason, own, others } = this.refusals;
    if (!this.shares.holdsMost(workspaceId)) throw others();
    this.metrics.refusals.inc({ reason });
    throw own();
  }

  giveBack(workspaceId: string, amount = 1): void {
    this.shares.giveBack(workspaceId, amount);
  }
}
