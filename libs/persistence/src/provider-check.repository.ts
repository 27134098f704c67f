import type { ProviderCheckResult } from '#schemas';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Database } from './database.js';
import { silentSeconds } from './provider-key.repository.js';
import { providerKeys } from './processes.js';
import { jsonText } from './run-facts.js';

/** How long a call for a check may take. */
export const checkCallMs = 10_000;
/** A request that no worker has answered by then is given up. A worker takes one within a second. */
const checkWaitMs = checkCallMs + 5_000;
const pollMs = 200;

/** The answer of a worker that called a provider, or the reason why there was no call. */
export interface ProviderCheckAnswer {
  result: ProviderCheckResult;
  latencyMs?: number;
  httpStatus?: number;
  balance?: { amount: number; unit: string };
  detail?: string;
}

/** The last check of a provider. `checkedAt` is ISO 8601. */
export interface ProviderCheck extends ProviderCheckAnswer {
  checkedAt: string;
}

/**
 * Checks of providers' keys. Only workers have the keys, so a check is a row that one process writes and a worker answers;
 * simultaneous requests for a provider share one call.
 */
@Injectable()
export class ProviderCheckRepository {
  constructor(private readonly database: Database) {}

  /**
   * Asks the workers to check the key of a provider, and waits for the answer, at most 15 seconds. `hasCheck`: whether a
   * free call is declared.
   */
  async check(provider: string, hasCheck: boolean): Promise<ProviderCheckAnswer & { checkedAt?: string }> {
    const keys = await providerKeys(this.database);
    const key = keys.find((each) => each.provider === provider);
    if (key?.hasKey === false) return { result: 'no_key' };
    if (!hasCheck) return { result: 'no_free_check' };
    if (key === undefined) return { result: 'no_worker' };
    const askedAt = await this.ask(provider);
    const untilMs = performance.now() + checkWaitMs;
    while (performance.now() < untilMs) {
      await pause(pollMs);
      const [answered] = await this.database.work.query<ProviderCheckRow>(
        `SELECT ${columns} FROM provider_check WHERE provider = $1 AND checked_at >= $2::timestamptz`,
        [provider, askedAt],
      );
      if (answered) return checkOf(answered);
    }
    return { result: 'no_worker' };
  }

  /** Takes the requests for these providers that no worker has taken yet. */
  async take(providers: readonly string[]): Promise<string[]> {
    const rows = await this.database.work.query<{ provider: string }>(
      `UPDATE provider_check SET taken_at = router_now() WHERE provider IN (
          SELECT provider FROM provider_check WHERE provider = ANY ($1) AND ${isOpen()} AND taken_at IS NULL
          FOR UPDATE SKIP LOCKED
        ) RETURNING provider`,
      [providers],
    );
    return rows.map(({ provider }) => provider);
  }

  /** Records an answer, also of a check that nobody has asked for. */
  async answer(provider: string, answer: ProviderCheckAnswer): Promise<void> {
    await this.database.work.query(
      `INSERT INTO provider_check (provider, asked_at, checked_at, answer) VALUES ($1, router_now(), router_now(), $2)
        ON CONFLICT (provider) DO UPDATE SET checked_at = router_now(), answer = excluded.answer`,
      [provider, jsonText(answer)],
    );
  }

  /**
   * Forgets what a provider said about keys that a worker has replaced: the last check, the rejections, and the states of
   * the keys that are not `kept`, which are those with the same text as before. They are not listed until a worker reports
   * them. Their runs and submissions still count, so that limits also hold when a file is read while it is rewritten.
   */
  async forgetKeys(provider: string, kept: readonly string[]): Promise<void> {
    await this.database.work.query(
      `WITH unchecked AS (UPDATE provider_check SET answer = NULL WHERE provider = $1),
        unstated AS (
          UPDATE provider_key SET reported_at = least(reported_at, router_now() - interval '${silentSeconds} seconds'),
            submits_after = NULL, polls_after = NULL, left_at = NULL, left_for = NULL, checked_at = NULL
          WHERE provider = $1 AND name <> ALL ($2)
        )
        UPDATE provider_health SET results = (
          SELECT coalesce(jsonb_agg(one), '[]') FROM jsonb_array_elements(results) AS one
          WHERE one ->> 'result' NOT IN ('key_rejected', 'no_balance')
        ) WHERE provider = $1`,
      [provider, kept],
    );
  }

  /** The last check of each provider that has one. */
  async list(): Promise<Map<string, ProviderCheck>> {
    const rows = await this.database.work.query<ProviderCheckRow>(
      `SELECT ${columns} FROM provider_check WHERE answer IS NOT NULL`,
    );
    return new Map(rows.map((row) => [row.provider, checkOf(row)]));
  }

  /** Returns when the current request was made: now, or earlier if another one waits for its answer. */
  private async ask(provider: string): Promise<string> {
    const [row] = await this.database.work.query<{ askedAt: string }>(
      `INSERT INTO provider_check AS known (provider, asked_at) VALUES ($1, router_now())
        ON CONFLICT (provider) DO UPDATE SET
          asked_at = CASE WHEN ${isOpen('known.')} THEN known.asked_at ELSE excluded.asked_at END,
          taken_at = CASE WHEN ${isOpen('known.')} THEN known.taken_at END
        RETURNING asked_at::text AS "askedAt"`,
      [provider],
    );
    if (!row) throw new Error('a check was not written');
    return row.askedAt;
  }
}

/** Whether somebody still waits for the answer of a row. */
const isOpen = (row = ''): string => `(${row}checked_at IS NULL OR ${row}checked_at < ${row}asked_at)
  AND ${row}asked_at > router_now() - interval '${checkWaitMs} milliseconds'`;

interface ProviderCheckRow {
  provider: string;
  checkedAt: Date;
  answer: ProviderCheckAnswer;
}

const columns = 'provider, checked_at AS "checkedAt", answer';

const checkOf = ({ checkedAt, answer }: ProviderCheckRow): ProviderCheck => ({
  ...answer,
  checkedAt: checkedAt.toISOString(),
});
