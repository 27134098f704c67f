import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

/** A key of a provider's pool, without its secret. */
export interface PoolKey {
  name: string;
  weight: number;
  concurrency?: number | undefined;
  perMinute?: number | undefined;
}

export const keyStates = ['ready', 'cooling', 'draining', 'left'] as const;

/** The state of a key in its pool. Times are ISO 8601 in UTC. */
export interface KeyState {
  provider: string;
  name: string;
  weight: number;
  concurrency: number | null;
  perMinute: number | null;
  /**
   * `cooling`: the provider asked not to be called with it. `draining`: its weight is 0. `left`: the provider rejected it,
   * and it is used only if every key has left.
   */
  state: (typeof keyStates)[number];
  /** When it cools no more. */
  coolsUntil: string | null;
  leftAt: string | null;
  /** The rejected part of the account. */
  leftFor: 'key' | 'balance' | 'quota' | null;
}

type Named = Pick<KeyState, 'provider' | 'name'>;

/** Keys that no worker has reported for this long are not listed. */
export const silentSeconds = 100;
/** A key that has left is checked this often. */
const checkEverySeconds = 60;

/**
 * The keys of providers that have several, or limits on one; see `functions/provider-keys.ts`. Workers report them, choose
 * among them when they take runs, and record what providers say about them.
 */
@Injectable()
export class ProviderKeyRepository {
  constructor(private readonly database: Database) {}

  /** Records that this worker has these keys. A new key is not chosen before. */
  async report(keys: readonly (PoolKey & Named)[]): Promise<void> {
    await this.database.work.query(
      `INSERT INTO provider_key AS known (provider, name, weight, concurrency, per_minute, reported_at)
        SELECT provider, name, weight, concurrency, "perMinute", router_now()
        FROM jsonb_to_recordset($1) AS each (provider text, name text, weight integer, concurrency integer, "perMinute" integer)
        ORDER BY provider, name
        ON CONFLICT (provider, name) DO UPDATE SET weight = excluded.weight, concurrency = excluded.concurrency,
          per_minute = excluded.per_minute, reported_at = excluded.reported_at`,
      [JSON.stringify(keys)],
    );
    await this.database.work.query(
      `DELETE FROM provider_key WHERE reported_at < router_now() - interval '1 day'`,
    );
  }

  /** Lists the keys that workers have, by provider and name. */
  async list(): Promise<KeyState[]> {
    return this.database.work.query<KeyState>(
      `SELECT provider, name, weight, concurrency, per_minute AS "perMinute",
          CASE WHEN left_at IS NOT NULL THEN 'left' WHEN weight = 0 THEN 'draining'
            WHEN submits_after > router_now() THEN 'cooling' ELSE 'ready' END AS state,
          CASE WHEN submits_after > router_now() THEN ${shown('submits_after')} END AS "coolsUntil",
          ${shown('left_at')} AS "leftAt", left_for AS "leftFor"
        FROM provider_key WHERE reported_at > router_now() - interval '${silentSeconds} seconds'
        ORDER BY provider, name`,
    );
  }

  /**
   * Records that the provider asked not to be called with a key. Returns the milliseconds until one of the pool's keys may
   * submit.
   */
  async cool(
    { provider, name }: Named,
    calls: 'submit' | 'poll',
    forMs: number,
    pool: readonly PoolKey[],
  ): Promise<number> {
    const [row] = await this.database.work.query<{ freeInMs: number }>(
      `SELECT cool_provider_key($1, $2, $3, $4 * interval '1 millisecond', $5) AS "freeInMs"`,
      [provider, name, calls, forMs, JSON.stringify(pool)],
    );
    return row?.freeInMs ?? forMs;
  }

  /** Makes a rejected key leave the pool, unless it is the last one. Returns whether another key is left. */
  async drop({ provider, name }: Named, reason: string, pool: readonly PoolKey[]): Promise<boolean> {
    const [row] = await this.database.work.query<{ hasOther: boolean }>(
      'SELECT drop_provider_key($1, $2, $3, $4) AS "hasOther"',
      [provider, name, reason, JSON.stringify(pool)],
    );
    return row?.hasOther ?? false;
  }

  /** Takes those of the keys that have left and are due for a check. */
  async takeChecks(keys: readonly Named[]): Promise<Named[]> {
    return this.database.work.query<Named>(
      `UPDATE provider_key AS key SET checked_at = router_now() FROM (
          SELECT provider, name FROM provider_key JOIN jsonb_to_recordset($1) AS own (provider text, name text) USING (provider, name)
          WHERE coalesce(checked_at, left_at) < router_now() - interval '${checkEverySeconds} seconds' AND left_at IS NOT NULL
          FOR NO KEY UPDATE OF provider_key SKIP LOCKED
        ) AS due WHERE (key.provider, key.name) = (due.provider, due.name) RETURNING key.provider, key.name`,
      [JSON.stringify(keys)],
    );
  }

  /** Returns a key to its pool. `by`: the operator who did it. False if it had not left. */
  async restore({ provider, name }: Named, by?: string): Promise<boolean> {
    const rows = await this.database.work.query(
      `WITH restored AS (
          UPDATE provider_key SET left_at = NULL, left_for = NULL
          WHERE provider = $1 AND name = $2 AND left_at IS NOT NULL RETURNING provider
        ), noted AS (
          INSERT INTO operator_action (actor, action, subject, details)
          SELECT $3, 'provider.key.restore', $1, jsonb_build_object('key', $2::text) FROM restored WHERE $3::text IS NOT NULL
        )
        SELECT FROM restored`,
      [provider, name, by ?? null],
    );
    return rows.length > 0;
  }
}

const shown = (time: string): string => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
