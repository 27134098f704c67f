import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { ClaimedRun } from './live-run.js';
import type { Queryable } from './pools.js';
import { type Granted, outboxRowOf } from './run-facts.js';

export interface OverdueRun {
  runId: string;
  provider: string;
  queue: 'poll' | 'assets' | 'webhooks';
  /** A webhook that waited in its row for a slot or for its next attempt. It had no job, so none was lost. */
  waited: boolean;
}

interface Drift {
  workspaceId: string;
  counter: string;
  counted: number;
  actual: number;
}

/** Live runs of one provider in one state. `oldestSeconds` is the time since the oldest was admitted. */
export interface Load {
  provider: string;
  state: 'parked' | 'waiting' | 'submitting' | 'running' | 'copying';
  runs: number;
  oldestSeconds: number;
  /**
   * For `waiting` runs: seconds since the oldest was granted its slot. Parked time is excluded, since workers cannot shorten
   * it, and so are runs with a key of their workspace, since its trouble is not the operator's.
   */
  waitedSeconds: number;
  /** Runs that a worker may take now. The other runs of `waiting` are postponed. */
  takeable: number;
  reservedMicros: number;
}

/** Counts runs to be dispatched like the jobs of a queue, although they have no jobs. */
export function dispatchCounts(load: readonly Load[]) {
  const counts = { queue: 'dispatch' as const, waiting: 0, active: 0, delayed: 0 };
  for (const { state, runs, takeable } of load) {
    if (state === 'waiting') counts.delayed += runs - takeable;
    else if (state === 'submitting') counts.active += runs - takeable;
    counts.waiting += takeable;
  }
  return counts;
}

/** More than the longest time for which a row is postponed. */
const maxHours = { runs: 3, webhooks: 17 };

/** Makes rows due now whose due time is too far ahead. They were dated while a clock was fast. */
export const rowsAhead = (limit: string): string => `runs_ahead AS (
          UPDATE outbox SET due_at = router_now() WHERE (workspace_id, run_id) IN (
            SELECT workspace_id, run_id FROM outbox
            WHERE due_at > router_statement_now() + interval '${maxHours.runs} hours' AND due_at < 'infinity' LIMIT ${limit} FOR UPDATE SKIP LOCKED
          )
        ), webhooks_ahead AS (
          UPDATE webhook SET due_at = router_now() WHERE run_id IN (
            SELECT run_id FROM webhook WHERE ended_at IS NULL
              AND due_at > router_statement_now() + interval '${maxHours.webhooks} hours' AND due_at < 'infinity' LIMIT ${limit} FOR UPDATE SKIP LOCKED
          )
        )`;

/** Live runs by their outbox rows: overdue ones, the backlog, and counts. */
@Injectable()
export class OutboxRepository {
  constructor(private readonly database: Database) {}

  /**
   * Takes up to `limit` overdue rows of submitted runs, and as many of webhooks, and postpones them by 10 seconds.
   * Each row goes to one reconciler. `router_statement_now()` can use the index; `router_now()` may change from row
   * to row and would scan the table.
   */
  async takeOverdue(limit: number): Promise<OverdueRun[]> {
    return this.database.work.query<OverdueRun>(
      `WITH runs AS (
          UPDATE outbox SET due_at = router_now() + interval '10 seconds', attempts = 0
          WHERE (workspace_id, run_id) IN (
            SELECT workspace_id, run_id FROM outbox WHERE due_at <= router_statement_now() AND queue <> 'dispatch' ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
          ) RETURNING run_id, provider, queue, false AS waited
        ), webhooks AS (
          UPDATE webhook SET due_at = router_now() + interval '10 seconds'
          WHERE run_id IN (
            SELECT run_id FROM webhook WHERE ended_at IS NULL AND due_at <= router_statement_now()
            ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
          ) RETURNING run_id, split_part(model, '/', 1), 'webhooks', waiting OR tries > 0 OR redeliveries > 0
        ), ${rowsAhead('$1')}
        SELECT run_id AS "runId", provider, queue, waited FROM runs UNION ALL SELECT * FROM webhooks`,
      [limit],
    );
  }

  /** Grants the free slots of all workspaces, for example after a limit was raised. */
  async promoteAll(): Promise<Granted[]> {
    return this.database.work.query<Granted>(
      `SELECT granted.run_id AS "runId", granted.provider FROM (
          SELECT id FROM workspace WHERE backlog > 0 AND inflight < inflight_limit ORDER BY id
        ) AS open, promote(open.id) AS granted`,
    );
  }

  /**
   * Lists parked runs that cost more than the total spend limit of their workspace, which was lowered after their
   * admission. They can never start, and would block the runs behind them.
   */
  async unaffordable(limit: number): Promise<ClaimedRun[]> {
    return this.database.reads.query(
      `SELECT run.id AS "runId", run.epoch, run.workspace_id AS "workspaceId"
        FROM workspace
        CROSS JOIN LATERAL (
          SELECT reserved_micros FROM outbox
          WHERE workspace_id = workspace.id AND NOT dispatched AND queue = 'backlog' ORDER BY place LIMIT 1
        ) AS head
        JOIN outbox ON outbox.workspace_id = workspace.id AND NOT dispatched AND queue = 'backlog'
          AND outbox.reserved_micros > committed_limit_micros
        JOIN run ON run.id = outbox.run_id
        WHERE workspace.backlog > 0 AND head.reserved_micros > committed_limit_micros
        ORDER BY place LIMIT $1`,
      [limit],
    );
  }

  /**
   * The age of the oldest overdue row in seconds. 0 if none is overdue. Runs that wait for a free worker have no due time,
   * because their wait depends on the provider's slots; `load` has it as `waitedSeconds`.
   */
  async oldestOverdueSeconds(): Promise<number> {
    const [row] = await this.database.work.query<{ seconds: number }>(
      `SELECT greatest(0, coalesce(extract(epoch FROM router_now() - min(due_at)), 0))::float AS seconds
        FROM outbox WHERE due_at < 'infinity'`,
    );
    return row?.seconds ?? 0;
  }

  /**
   * Counts live runs by provider and state. The age comes from the run ids, which are in the order of admission.
   */
  async load(): Promise<Load[]> {
    return this.database.work.query<Load>(
      `SELECT provider_of(provider) AS provider, state, count(*)::integer AS runs, sum(reserved_micros)::float AS "reservedMicros",
          count(*) FILTER (WHERE waiting)::integer AS takeable,
          greatest(0, extract(epoch FROM router_now()) - ('x' || left(replace(min(run_id::text), '-', ''), 12))::bit(48)::bigint / 1000.0)::float
            AS "oldestSeconds",
          greatest(0, extract(epoch FROM router_now() - min(
            CASE WHEN state = 'waiting' AND strpos(provider, '@') = 0 THEN (SELECT granted_at FROM run WHERE id = run_id) END)))::float AS "waitedSeconds"
        FROM outbox CROSS JOIN LATERAL (SELECT CASE
          WHEN queue = 'backlog' THEN 'parked'
          WHEN queue = 'poll' THEN 'running'
          WHEN queue = 'assets' THEN 'copying'
          WHEN dispatched THEN 'submitting'
          ELSE 'waiting' END AS state) AS states
        GROUP BY provider_of(provider), state`,
    );
  }

  /**
   * Lists counters that differ from the sums over live runs. One statement, so that both sides are from the same
   * snapshot.
   */
  async drift(): Promise<Drift[]> {
    return this.database.work.query<Drift>(
      `WITH live AS (
          SELECT workspace_id, count(*) FILTER (WHERE queue <> 'backlog') AS inflight,
            coalesce(sum(reserved_micros) FILTER (WHERE queue <> 'backlog'), 0) AS committed,
            sum(reserved_micros) AS held, sum(excess_micros) AS excess, count(*) FILTER (WHERE queue = 'backlog') AS backlog
          FROM outbox GROUP BY workspace_id
        )
        SELECT workspace.id AS "workspaceId", pair.counter, pair.counted::float AS counted, pair.actual::float AS actual
        FROM workspace LEFT JOIN live ON live.workspace_id = workspace.id
        CROSS JOIN LATERAL (VALUES
          ('inflight', workspace.inflight, coalesce(live.inflight, 0)),
          ('committed_micros', workspace.committed_micros, coalesce(live.committed, 0)),
          ('held_micros', workspace.held_micros, coalesce(live.held, 0)),
          ('excess_micros', workspace.excess_micros, coalesce(live.excess, 0)),
          ('backlog', workspace.backlog, coalesce(live.backlog, 0)),
          ('backlog_chunk', (SELECT coalesce(sum(runs), 0) FROM backlog_chunk WHERE workspace_id = workspace.id), coalesce(live.backlog, 0))
        ) AS pair (counter, counted, actual)
        WHERE pair.counted <> pair.actual
        UNION ALL
        SELECT workspace_id, 'budget_reserved', reserved_micros::float, coalesce(held, 0)::float
        FROM budget JOIN budget_window AS its ON budget_id = budget.id LEFT JOIN (
          SELECT budget_window, sum(run.reserved_micros) AS held
          FROM workspace JOIN outbox ON workspace_id = workspace.id JOIN run ON run.id = run_id, unnest(budget_windows) AS budget_window
          WHERE budgets > 0 GROUP BY budget_window
        ) AS live ON budget_window = its.id
        WHERE reserved_micros <> coalesce(held, 0)`,
    );
  }

  /** The number of live runs that, according to this database, were not sent to their providers. */
  async unsentRuns(): Promise<number> {
    const [row] = await this.database.work.query<{ runs: number }>(
      `SELECT count(*)::integer AS runs FROM run, outbox WHERE ${isUnsent}`,
    );
    return row?.runs ?? 0;
  }

  /**
   * Marks unsent runs as sent, after a database was restored: some of them were sent after the time of the backup.
   * A worker then treats such a run as a submission with an unknown outcome. It submits nothing and ends the run as
   * `internal_error`, and the Idempotency-Key stays used. Returns the number of marked runs.
   */
  async presumeSent(on: Queryable = this.database.work): Promise<number> {
    const [row] = await on.query<{ runs: number }>(
      `WITH presumed AS (
          UPDATE run SET sent_at = router_now() FROM outbox WHERE ${isUnsent} RETURNING run.id, run.workspace_id
        ), due AS (
          UPDATE outbox SET waiting = false, due_at = router_now() FROM presumed WHERE ${outboxRowOf('presumed')} AND queue = 'dispatch'
        )
        SELECT count(*)::integer AS runs FROM presumed`,
    );
    return row?.runs ?? 0;
  }
}

/** The join with the outbox selects live runs. */
const isUnsent = `${outboxRowOf('run')} AND sent_at IS NULL`;
