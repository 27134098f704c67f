import type { Bucket } from '#errors';
import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';
import { type Load, OutboxRepository } from './outbox.repository.js';
import { providerKeys } from './processes.js';
import { type ProviderPause, ProviderPauseRepository } from './provider-pause.repository.js';

/** The number of runs of a provider with one outcome. */
interface Outcomes {
  /** Null for runs that succeeded. */
  bucket: Bucket | null;
  lastHour: number;
  lastDay: number;
}

/** The state of a provider, for operators. */
export interface ProviderState {
  provider: string;
  /** Whether a worker has a key for the provider. Null until a worker has reported. */
  hasKey: boolean | null;
  /** Maximum number of concurrent submissions, over all workers. */
  slots: number;
  pauses: Omit<ProviderPause, 'provider'>[];
  load: Record<Load['state'], { runs: number; oldestSeconds: number }>;
  outcomes: Outcomes[];
}

/** Reads the state of providers, for operators. */
@Injectable()
export class ProviderReader {
  constructor(
    private readonly database: Database,
    private readonly outbox: OutboxRepository,
    private readonly pauses: ProviderPauseRepository,
  ) {}

  /** Lists providers by name: the known ones, and those that have a pause, a key or runs. */
  async list(known: readonly string[]): Promise<ProviderState[]> {
    const [keys, load, pauses, outcomes] = await Promise.all([
      providerKeys(this.database),
      this.outbox.load(),
      this.pauses.standing(),
      this.outcomes(),
    ]);
    const names = new Set([
      ...known,
      ...[keys, load, pauses, outcomes].flat().map(({ provider }) => provider),
    ]);
    return [...names].toSorted().map((provider) => {
      const [{ hasKey, slots } = { hasKey: null, slots: 0 }] = rowsOf(keys, provider);
      return {
        provider,
        hasKey,
        slots,
        pauses: rowsOf(pauses, provider),
        load: byState(rowsOf(load, provider)),
        outcomes: rowsOf(outcomes, provider),
      };
    });
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

const rowsOf = <Row extends { provider: string }>(rows: readonly Row[], name: string) =>
  rows.flatMap(({ provider, ...row }) => (provider === name ? [row] : []));

function byState(load: readonly Omit<Load, 'provider'>[]): ProviderState['load'] {
  const none = { runs: 0, oldestSeconds: 0 };
  const states = { parked: none, waiting: none, submitting: none, running: none, copying: none };
  for (const { state, runs, oldestSeconds } of load) states[state] = { runs, oldestSeconds };
  return states;
}
