import { Metrics } from '#observability';
import type { Ending } from '#persistence';
import type { Handle, Outcome } from '#providers';
import { Injectable } from '@nestjs/common';
import type { OngoingRun } from './ongoing-run.js';

/** The part of a successful outcome that is saved. */
export type Result = Pick<Extract<Outcome, { kind: 'succeeded' }>, 'output' | 'lacksFiles'>;

/** The outcome of a call to a provider for its run, with all that is needed to save it. */
export type HeldOutcome = { run: OngoingRun } & (
  | { kind: 'handle'; handle: Handle; afterMs: number }
  | { kind: 'output'; result: Result }
  | { kind: 'ending'; ending: Ending; note?: string | undefined }
  | { kind: 'postponed'; afterMs: number }
  | { kind: 'fallback' }
);

/**
 * At its bound a worker takes no more runs, so that an outage that lets claims through but not outcomes cannot use up its
 * memory. Work in flight still ends, so it may hold a little more. It takes runs again at half of the bound.
 */
export const maxHeld = { outcomes: 10_000, bytes: 64 * 1024 * 1024 };

/** The outcomes that the database has not taken yet. */
@Injectable()
export class HeldOutcomes {
  /** Called when the bound is reached, and when there is room again. */
  onChange: (() => void) | undefined;
  private readonly held = new Map<HeldOutcome, number>();
  private bytes = 0;
  private full = false;

  constructor(metrics: Metrics) {
    metrics.watchUnsavedOutcomes(() => this.held.size);
  }

  get isFull(): boolean {
    return this.full;
  }

  /** All of them, oldest first. */
  list(): HeldOutcome[] {
    return [...this.held.keys()];
  }

  /** Holds an outcome until `save` has settled. */
  async hold<Saved>(outcome: HeldOutcome, save: () => Promise<Saved>): Promise<Saved> {
    const bytes = bytesOf(outcome);
    this.held.set(outcome, bytes);
    this.bytes += bytes;
    this.compare();
    try {
      return await save();
    } finally {
      this.held.delete(outcome);
      this.bytes -= bytes;
      this.compare();
    }
  }

  private compare(): void {
    const share = this.full ? 0.5 : 1;
    const isFull = this.held.size >= share * maxHeld.outcomes || this.bytes >= share * maxHeld.bytes;
    if (isFull === this.full) return;
    this.full = isFull;
    this.onChange?.();
  }
}

/** The size of its body. Everything else is small. */
function bytesOf(outcome: HeldOutcome): number {
  switch (outcome.kind) {
    case 'output':
      return lengthOf(outcome.result.output.body);
    case 'ending':
      return 'body' in outcome.ending ? lengthOf(outcome.ending.body) : 0;
    case 'handle':
    case 'postponed':
    case 'fallback':
      return 0;
  }
}

const lengthOf = (body: Uint8Array | { storedAs: string }): number =>
  'storedAs' in body ? 0 : body.byteLength;
