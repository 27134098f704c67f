import { every, type PeriodicWork } from '#observability';
import {
  DatabaseOutage,
  type NotedResults,
  ProviderHealthRepository,
  type ProviderResult,
} from '#persistence';
import type { KeyedProvider, Outcome, ProviderFailure, Signal } from '#providers';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { OwnKeys } from '../keys/own-keys.js';

const everyMs = 2_000;
/** More than the number of runs that count, over all workers. */
const maxRuns = 50;

/** The results of a provider since the last write. Times are of the monotonic clock. */
interface Since {
  answeredAtMs?: number;
  runs: Map<string, { atMs: number; result: ProviderResult }>;
}

/**
 * Gathers the results of calls, from which the health of providers is read, and writes them every two seconds, so that the
 * cost does not grow with the number of calls. If a write fails, its results are lost: the next ones say the same.
 */
@Injectable()
export class ProviderResults implements OnModuleInit, OnModuleDestroy {
  private since = new Map<string, Since>();
  private writing: PeriodicWork | undefined;

  constructor(
    private readonly health: ProviderHealthRepository,
    private readonly ownKeys: OwnKeys,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onModuleInit(): void {
    this.writing = every(everyMs, () => this.write(), {
      onError: (error) => this.outage.warn({ error }, 'could not write the results of calls to providers'),
    });
  }

  /** Writes the last results once the processors have stopped. */
  async onModuleDestroy(): Promise<void> {
    await this.writing?.stop();
    await this.write().catch(() => {});
  }

  /**
   * Notes one call and its meaning. A poll that finds its run still in progress says only that the key is accepted. A
   * call with a workspace's own key says nothing about the provider's health, only about the key.
   */
  noteCall(
    { name: provider, key }: Pick<KeyedProvider, 'name' | 'key'>,
    runId: string,
    signal: Signal,
    outcome: Outcome,
  ): void {
    const result = resultOf(signal, outcome);
    if (key?.ownId !== undefined) {
      if (result === 'key_rejected' || result === 'no_balance') this.ownKeys.noteState(key.ownId, 'rejected');
      else if (result === 'ok' || (result === undefined && outcome.kind !== 'failed'))
        this.ownKeys.noteState(key.ownId, 'accepted');
      return;
    }
    if (outcome.kind !== 'failed') this.of(provider).answeredAtMs = performance.now();
    if (result !== undefined) this.noteRun(provider, runId, result);
  }

  /** Notes the newest result of a run. */
  noteRun(provider: string, runId: string, result: ProviderResult): void {
    const { runs } = this.of(provider);
    runs.delete(runId);
    runs.set(runId, { atMs: performance.now(), result });
    const [oldest] = runs.keys();
    if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest);
  }

  /** Notes whether a check of the key was accepted, which a rejected call for one model does not say. */
  noteCheck(provider: string, isAccepted: boolean): void {
    if (isAccepted) this.of(provider).answeredAtMs = performance.now();
    else this.noteRun(provider, 'check', 'key_rejected');
  }

  private of(provider: string): Since {
    const known = this.since.get(provider) ?? { runs: new Map() };
    this.since.set(provider, known);
    return known;
  }

  private async write(): Promise<void> {
    if (this.since.size === 0) return;
    const { since } = this;
    this.since = new Map();
    const nowMs = performance.now();
    const age = (atMs: number) => Math.round(nowMs - atMs);
    await this.health.note(
      [...since].map(([provider, { answeredAtMs, runs }]): NotedResults => ({
        provider,
        ...(answeredAtMs !== undefined && { answeredMs: age(answeredAtMs) }),
        results: [...runs].map(([run, { atMs, result }]) => ({ run, ms: age(atMs), result })),
      })),
    );
  }
}

/** The result of a call for its provider. Undefined while the run is in progress, and for a call without a key. */
export function resultOf(signal: Signal, outcome: Outcome): ProviderResult | undefined {
  switch (outcome.kind) {
    case 'pending':
    case 'next':
      return undefined;
    case 'succeeded':
    case 'canceled':
      return 'ok';
    case 'failed':
      return failureResult(signal, outcome.failure);
  }
}

function failureResult(
  signal: Signal,
  { class: failureClass, account, afterMs }: ProviderFailure,
): ProviderResult | undefined {
  if ('fault' in signal && signal.fault === 'not_sent' && signal.cause === 'no_key') return undefined;
  const status = 'status' in signal ? signal.status : undefined;
  switch (failureClass) {
    case 'rejected_input':
    case 'content_policy':
      return 'ok';
    case 'provider_account':
      if (account === undefined) return 'failed';
      return account === 'key' ? 'key_rejected' : 'no_balance';
    case 'provider_unavailable':
      return status === 429 || afterMs !== undefined ? 'throttled' : 'failed';
    case 'provider_failed':
    case 'provider_timeout':
    case 'model_gone':
    case 'unreadable':
      return 'failed';
  }
}
