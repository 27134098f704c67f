import type { Bucket } from '#errors';
import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';
import { type Load, OutboxRepository } from './outbox.repository.js';
import { type ProviderCheck, ProviderCheckRepository } from './provider-check.repository.js';
import { type ProviderHealth, ProviderHealthRepository } from './provider-health.js';
import { type KeyState, ProviderKeyRepository } from './provider-key.repository.js';
import { type ProviderSurprise, ProviderSurpriseRepository } from './provider-surprise.repository.js';

/** The number of runs of a provider with one outcome. */
interface Outcomes {
  /** Null for runs that succeeded. */
  bucket: Bucket | null;
  lastHour: number;
  lastDay: number;
}

/** A provider for operators: its health, its load, its outcomes, its last check and its unexpected replies. */
export interface ProviderState extends ProviderHealth {
  load: Record<Load['state'], { runs: number; oldestSeconds: number }>;
  outcomes: Outcomes[];
  /** Absent if it was never checked, or if a later call said the opposite. */
  check: ProviderCheck | undefined;
  surprises: Omit<ProviderSurprise, 'provider'>[];
  keys: Omit<KeyState, 'provider'>[];
}

/** Reads the state of providers, for operators. */
@Injectable()
export class ProviderReader {
  constructor(
    private readonly database: Database,
    private readonly outbox: OutboxRepository,
    private readonly health: ProviderHealthRepository,
    private readonly checks: ProviderCheckRepository,
    private readonly surprises: ProviderSurpriseRepository,
    private readonly keys: ProviderKeyRepository,
  ) {}

  /** Lists providers by name: the known ones, and those that have a pause, a key or runs. */
  async list(known: readonly string[]): Promise<ProviderState[]> {
    const [load, outcomes, checks, surprises, keys] = await Promise.all([
      this.outbox.load(),
      this.outcomes(),
      this.checks.list(),
      this.surprises.list(),
      this.keys.list(),
    ]);
    const names = [load, outcomes].flat().map(({ provider }) => provider);
    return (await this.health.list([...known, ...names])).map((health) => ({
      ...health,
      load: byState(rowsOf(load, health.provider)),
      outcomes: rowsOf(outcomes, health.provider),
      check: standingCheck(health, checks.get(health.provider)),
      surprises: rowsOf(surprises, health.provider),
      keys: rowsOf(keys, health.provider),
    }));
  }

  /** Counts the outcomes of the last hour and the last 24 hours, from the audit records. */
  private async outcomes(): Promise<(Outcomes & { provider: string })[]> {
    return this.database.list<Outcomes & { provider: string }>(
      operators,
      `SELECT provider, bucket, count(*)::float AS "lastDay",
          count(*) FILTER (WHERE completed_at > router_statement_now() - interval '1 hour')::float AS "lastHour"
        FROM audit_record WHERE completed_at > router_statement_now() - interval '1 day'
        GROUP BY provider, bucket ORDER BY count(*) DESC, bucket`,
      [],
    );
  }
}

/** A check that says the opposite of the state is older than the call that made the state. */
function standingCheck(
  { state }: Pick<ProviderHealth, 'state'>,
  check: ProviderCheck | undefined,
): ProviderCheck | undefined {
  const isRejected = state === 'key_rejected' || state === 'no_balance';
  const isOutdated = isRejected ? check?.result === 'ok' : check?.result === 'rejected' && isUsed(state);
  return isOutdated ? undefined : check;
}

/** Whether the state comes from calls with the provider's keys. */
const isUsed = (state: ProviderHealth['state']): boolean =>
  state === 'ready' || state === 'simulated' || state === 'throttled' || state === 'failing';

const rowsOf = <Row extends { provider: string }>(rows: readonly Row[], name: string) =>
  rows.flatMap(({ provider, ...row }) => (provider === name ? [row] : []));

function byState(load: readonly Omit<Load, 'provider'>[]): ProviderState['load'] {
  const none = { runs: 0, oldestSeconds: 0 };
  const states = { parked: none, waiting: none, submitting: none, running: none, copying: none };
  for (const { state, runs, oldestSeconds } of load) states[state] = { runs, oldestSeconds };
  return states;
}
