import type { ProviderHealthState } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { type ProviderKey, providerKeys } from './processes.js';
import { type ProviderPause, ProviderPauseRepository } from './provider-pause.repository.js';

/**
 * The rule for a provider's state; docs/operations/providers.md describes it. Results older than `minutes` do not
 * count. A rejected key or an empty balance does not pass by itself, so it counts for `accountMinutes`, unless a later
 * call was answered. A provider is failing, or throttled, if that happened to at least `minRuns` of the runs that count
 * and to at least `minShare` of them.
 */
const rule = { minutes: 15, accountMinutes: 60, minRuns: 3, minShare: 0.25 };

/** The result of a call, or of a run, for its provider. `ok`: an output, or a rejection that is the caller's fault. */
export type ProviderResult = 'ok' | 'failed' | 'throttled' | 'key_rejected' | 'no_balance';

/** New results of a provider. Ages are in milliseconds. */
export interface NotedResults {
  provider: string;
  /** The age of the last reply that accepted our account. */
  answeredMs?: number;
  results: { run: string; ms: number; result: ProviderResult }[];
}

/** The newest results of a provider. */
interface Recent {
  /** The number of runs that count. */
  runs: number;
  failed: number;
  throttled: number;
  /** Null if a later call was answered. */
  account: 'key_rejected' | 'no_balance' | null;
}

/** A provider's health. `state` is null until a worker has reported whether it has a key. */
export interface ProviderHealth extends Omit<ProviderKey, 'hasKey'>, Omit<Recent, 'account'> {
  hasKey: boolean | null;
  state: ProviderHealthState | null;
  pauses: Omit<ProviderPause, 'provider'>[];
}

/**
 * The health of providers, from the keys and the simulated providers that workers report, the pauses, and the results
 * of calls. Its cost depends on the number of providers, not of runs.
 */
@Injectable()
export class ProviderHealthRepository {
  constructor(
    private readonly database: Database,
    private readonly pauses: ProviderPauseRepository,
  ) {}

  /** Adds results of a worker's calls. */
  async note(results: readonly NotedResults[]): Promise<void> {
    await this.database.work.query('SELECT note_provider_results($1)', [JSON.stringify(results)]);
  }

  /** Lists the providers that workers know, or that have a pause or results, and those of `known`, by name. */
  async list(known: readonly string[] = []): Promise<ProviderHealth[]> {
    const [keys, pauses, recents] = await Promise.all([
      providerKeys(this.database),
      this.pauses.standing(),
      this.recents(),
    ]);
    const names = new Set([...known, ...[keys, pauses, recents].flat().map(({ provider }) => provider)]);
    return [...names].toSorted().map((provider) => {
      const key = keys.find((each) => each.provider === provider);
      const { account, ...recent } = recents.find((each) => each.provider === provider) ?? none;
      const facts = {
        provider,
        hasKey: key?.hasKey ?? null,
        simulated: key?.simulated ?? false,
        slots: key?.slots ?? 0,
        pauses: pauses.flatMap(({ provider: paused, ...pause }) => (paused === provider ? [pause] : [])),
      };
      return { ...recent, ...facts, state: stateOf({ ...recent, ...facts, account }) };
    });
  }

  private async recents(): Promise<(Recent & { provider: string })[]> {
    return this.database.work.query(
      `SELECT provider, count(*) FILTER (WHERE at > since)::integer AS runs,
          count(*) FILTER (WHERE at > since AND result = 'failed')::integer AS failed,
          count(*) FILTER (WHERE at > since AND result = 'throttled')::integer AS throttled,
          (array_agg(result ORDER BY at DESC) FILTER (WHERE result IN ('key_rejected', 'no_balance')
            AND at > account_since AND at > coalesce(answered_at, '-infinity')))[1] AS account
        FROM provider_health LEFT JOIN LATERAL (
          SELECT to_timestamp(one.at / 1000.0) AS at, result
          FROM jsonb_to_recordset(results) AS one (at numeric, result text)
        ) AS one ON true
        CROSS JOIN (SELECT router_statement_now() - make_interval(mins => $1) AS since,
          router_statement_now() - make_interval(mins => $2) AS account_since) AS times
        GROUP BY provider`,
      [rule.minutes, rule.accountMinutes],
    );
  }
}

const none = { runs: 0, failed: 0, throttled: 0, account: null };

/** The condition that matters most: what an operator did or has to do, then what passes by itself. */
export function stateOf(
  health: Pick<ProviderHealth, 'hasKey' | 'simulated'> &
    Recent & { pauses: readonly Pick<ProviderPause, 'askedBy'>[] },
): ProviderHealthState | null {
  const { hasKey, simulated, pauses, account, runs, failed, throttled } = health;
  const isLarge = (number: number) => number >= rule.minRuns && number >= runs * rule.minShare;
  if (pauses.some(({ askedBy }) => askedBy === 'operator')) return 'paused';
  if (hasKey === null) return null;
  if (!hasKey) return 'no_key';
  if (account !== null) return account;
  if (isLarge(failed)) return 'failing';
  if (pauses.length > 0 || isLarge(throttled)) return 'throttled';
  return simulated ? 'simulated' : 'ready';
}
