import { Injectable } from '@nestjs/common';
import { Batches, byPlace } from './batches.js';
import { Database } from './database.js';
import { providerOf } from './lines.js';
import type { PoolKey } from './provider-key.repository.js';
import type { LiveRun } from './live-run.js';
import { outboxRowOf, type PayloadBody, payloadBody, type PayloadRow } from './run-facts.js';

/** A run that a worker has claimed for submission. */
export interface TakenRun extends LiveRun {
  runId: string;
  body: PayloadBody;
  /** The number of claims that ended without a result, because their worker died. */
  crashes: number;
  /** Milliseconds left of the time budget. Null before the first submission. */
  leftMs: number | null;
  /** Milliseconds since the run could first be taken, without pauses of its provider. Null after the first claim. */
  waitedMs: number | null;
  /** The key of the provider's pool that shall submit it. Null without a pool. */
  keyName: string | null;
}

/** A run found by a sweep; see `functions/sweep.ts`. */
export type SweptRun = LiveRun & { runId: string; kind: 'lapsed' | 'abandoned' | 'spent' };

interface Terms {
  /** The concurrency slots of the provider that each workspace holds, and the maximum for one workspace. */
  held: ReadonlyMap<string, number>;
  maxHeld: number;
  most: number;
  leaseMs: number;
  /** The provider's keys, if the choice among them has to be coordinated. No run is claimed while none is free. */
  pool?: readonly PoolKey[] | undefined;
}

interface Begun {
  runId: string;
  epoch: number;
  leaseMs: number;
}

/** Extra candidates per run, because other workers may be taking some of them. */
const sparePerRun = 3;

/**
 * Runs on their way to their provider. A run waits in its outbox row until it is taken, and returns there if it is
 * not sent.
 */
@Injectable()
export class DispatchRepository {
  private readonly beginnings = new Batches((runs: readonly Begun[], waits) => this.beginAll(runs, waits));

  constructor(private readonly database: Database) {}

  /**
   * Claims up to `most` runs that wait in the line, unless it is paused. Workspaces take turns: the oldest run
   * of the workspace that holds the fewest slots comes next. An index finds the head of each workspace's line,
   * however many runs wait behind it, and each line is read only up to its even share plus one.
   */
  async takeRuns(line: string, { held, maxHeld, most, leaseMs, pool }: Terms): Promise<TakenRun[]> {
    const rows = await this.database.work.query<Omit<TakenRun, 'provider' | 'body'> & PayloadRow>(
      `WITH RECURSIVE open AS MATERIALIZED (
          SELECT WHERE paused_ms($1, 'submit') IS NULL ${pool ? 'AND free_provider_key($1, $8) IS NOT NULL' : ''}
        ), heads AS (
          SELECT head.* FROM open, LATERAL (${headOfLine('')}) AS head
          UNION ALL
          SELECT next.* FROM heads, LATERAL (${headOfLine('AND workspace_id > heads.workspace_id')}) AS next
        ), candidates AS MATERIALIZED (
          SELECT line.run_id FROM heads LEFT JOIN unnest($2::uuid[], $3::integer[]) AS held (workspace_id, slots) USING (workspace_id),
            LATERAL (
              SELECT run_id, place, coalesce(slots, 0) + row_number() OVER (ORDER BY place) AS turn FROM (
                SELECT run_id, place FROM outbox WHERE provider = $1 AND waiting AND workspace_id = heads.workspace_id
                ORDER BY place LIMIT 1 + $6 / (SELECT count(*) FROM heads)
              ) AS next
            ) AS line
          WHERE turn <= $4 ORDER BY turn, line.place LIMIT $6
        )
        SELECT candidates.run_id AS "runId", epoch, workspace_id AS "workspaceId", model, facts, crashes,
          left_ms AS "leftMs", waited_ms AS "waitedMs", body, stored_as AS "storedAs", ${pool ? 'key_name' : 'NULL'} AS "keyName"
        FROM candidates, ${pool ? 'take_run_with_key' : 'take_run'}(candidates.run_id, $7 * interval '1 millisecond' ${pool ? ', $1, $8' : ''}) LIMIT $5`,
      [
        line,
        [...held.keys()],
        [...held.values()],
        maxHeld,
        most,
        most * (1 + sparePerRun),
        leaseMs,
        ...(pool ? [JSON.stringify(pool)] : []),
      ],
    );
    return rows.map(({ body, storedAs, ...run }) => ({
      ...run,
      provider: providerOf(line),
      body: payloadBody({ body, storedAs }),
    }));
  }

  /** Lists the lines in which runs wait. */
  async linesToLookAt(): Promise<string[]> {
    const rows = await this.database.work.query<{ provider: string }>(
      `WITH RECURSIVE waited_for AS (
          (${firstWaitedFor('')})
          UNION ALL
          SELECT next.provider FROM waited_for, LATERAL (${firstWaitedFor('AND provider > waited_for.provider')}) AS next
        ) SELECT provider FROM waited_for`,
    );
    return rows.map(({ provider }) => provider);
  }

  /** Reads the database's clock. */
  async readClock(): Promise<Date> {
    const [row] = await this.database.work.query<{ now: Date }>('SELECT router_now() AS now');
    return row?.now ?? new Date();
  }

  /**
   * Makes runs whose pause or lease has ended wait again, and postpones those that wait for a paused provider. Does
   * nothing more than 2 s after `askedAt`. Before `judgesFrom`, no submission in flight counts as abandoned.
   */
  async sweep(
    most: number,
    leaseMs: number,
    { askedAt, judgesFrom }: { askedAt?: Date; judgesFrom?: Date } = {},
  ): Promise<SweptRun[]> {
    const swept = (verb: string, ...values: unknown[]) =>
      this.database.work.query<SweptRun>(
        `SELECT kind, run_id AS "runId", epoch, workspace_id AS "workspaceId", provider, model, facts FROM ${verb}`,
        [most, leaseMs, askedAt, ...values],
      );
    return [
      ...(await swept(`wake_overdue($1, $2 * interval '1 millisecond', $3, $4)`, judgesFrom)),
      ...(await swept(`postpone_paused($1, $2 * interval '1 millisecond', $3)`)),
    ];
  }

  /** Records that a submission begins. From now until the handle is saved, a crash leaves the outcome unknown. */
  async beginSubmission(runId: string, epoch: number, leaseMs: number): Promise<boolean> {
    try {
      return await this.beginnings.add({ runId, epoch, leaseMs });
    } catch (error) {
      // The write may have succeeded, but nothing will be sent, so the run must not look like a submission in
      // flight.
      await this.postpone(runId, epoch, 0);
      throw error;
    }
  }

  /**
   * Renews the leases of claims that are still held. Locked rows are skipped until the next time, because a
   * statement that holds several rows must not wait for another one.
   */
  async renewLeases(claims: readonly { runId: string; epoch: number }[], leaseMs: number): Promise<void> {
    await this.database.work.query(
      `WITH mine AS (
          SELECT run.id FROM run JOIN unnest($1::uuid[], $2::integer[]) AS each (id, epoch) USING (id, epoch)
          WHERE stage IN ('ready', 'submitting') AND lease_until IS NOT NULL FOR NO KEY UPDATE OF run SKIP LOCKED
        ), renewed AS (
          UPDATE run SET lease_until = router_now() + $3 * interval '1 millisecond'
          FROM mine WHERE run.id = mine.id RETURNING run.id, workspace_id
        )
        UPDATE outbox SET due_at = router_now() + $3 * interval '1 millisecond'
        FROM renewed WHERE ${outboxRowOf('renewed')}`,
      [claims.map((each) => each.runId), claims.map((each) => each.epoch), leaseMs],
    );
  }

  /**
   * Gives a claim back, unused or after the provider provably rejected the run. The run waits again in `afterMs`,
   * or when its time budget ends, if that is earlier. Returns the actual delay in milliseconds, or null if the
   * claim was lost.
   */
  async postpone(runId: string, epoch: number, afterMs: number): Promise<number | null> {
    const [row] = await this.database.persist<{ afterMs: number }>(
      `WITH back AS (
          UPDATE run SET sent_at = NULL, lease_until = NULL
          WHERE id = $1 AND epoch = $2 AND stage IN ('ready', 'submitting')
          RETURNING id, workspace_id, dispatched_at,
            greatest(0, least($3, ceil(extract(epoch FROM deadline_at - router_now()) * 1000)))::integer AS after_ms
        )
        UPDATE outbox SET waiting = after_ms = 0, dispatched = back.dispatched_at IS NOT NULL,
          due_at = CASE WHEN after_ms = 0 THEN 'infinity' ELSE router_now() + after_ms * interval '1 millisecond' END
        FROM back WHERE ${outboxRowOf('back')} RETURNING after_ms AS "afterMs"`,
      [runId, epoch, afterMs],
    );
    return row?.afterMs ?? null;
  }

  /**
   * Gives a claim back after the provider provably rejected the run, and moves the run to its next server. Returns
   * its new line, or null if the claim was lost.
   */
  async fallBack(runId: string, epoch: number): Promise<string | null> {
    const [row] = await this.database.persist<{ line: string }>(
      `WITH moved AS (
          UPDATE run SET provider = facts #>> '{fallback,provider}', facts = facts #> '{fallback,facts}',
            computed_micros = ceil((facts #>> '{fallback,computedMicros}')::bigint * markup),
            sent_at = NULL, lease_until = NULL
          WHERE id = $1 AND epoch = $2 AND stage IN ('ready', 'submitting') AND facts ? 'fallback'
          RETURNING id, workspace_id, line_of(provider, workspace_id, facts) AS line
        )
        UPDATE outbox SET provider = line, waiting = true, due_at = 'infinity'
        FROM moved WHERE ${outboxRowOf('moved')} RETURNING line`,
      [runId, epoch],
    );
    return row?.line ?? null;
  }

  private async beginAll(runs: readonly Begun[], waits: boolean): Promise<(boolean | undefined)[]> {
    const rows = await this.database.work.query<{ nth: number; begun: boolean | null }>(
      `SELECT nth::integer, begin_run(run_id, epoch, lease_ms * interval '1 millisecond', $4) AS begun
        FROM unnest($1::uuid[], $2::integer[], $3::integer[]) WITH ORDINALITY AS each (run_id, epoch, lease_ms, nth)`,
      [
        runs.map(({ runId }) => runId),
        runs.map(({ epoch }) => epoch),
        runs.map(({ leaseMs }) => leaseMs),
        waits,
      ],
    );
    return byPlace(runs.length, rows).map((row) => row?.begun ?? undefined);
  }
}

/** Selects the oldest run of the first workspace that waits in line `$1`. */
const headOfLine = (after: string): string => `SELECT workspace_id, place, run_id FROM outbox
  WHERE provider = $1 AND waiting ${after} ORDER BY workspace_id, place LIMIT 1`;

const firstWaitedFor = (after: string): string =>
  `SELECT provider FROM outbox WHERE waiting ${after} ORDER BY provider LIMIT 1`;
