import type { SweptRun } from '../dispatch.repository.js';
import { type AdmissionFacts, succeeded, type TestProcess } from './runs.js';
import { SpecDatabase } from './spec-database.js';

/** Longer than any spec takes, and short compared with the time budget of a run. */
export const leaseMs = 3_600_000;
export const budgetMs = 10 * leaseMs;

type Reached = 'claimed' | 'submitting' | 'running' | 'copying' | 'completed';

/** A run as known to the worker that claimed it. */
export interface Claimed {
  spaceId: string;
  runId: string;
  epoch: number;
}

/** The options of a run. Without `spaceId` it gets a new workspace. */
interface Chosen extends AdmissionFacts {
  spaceId?: string;
  by?: TestProcess;
}

/** Opens a fixture whose database is dropped after the spec file. */
export const openRunFixture = async (): Promise<RunFixture> => new RunFixture(await SpecDatabase.create());

/** The database of one spec, two workers that share it, and workers whose clocks are off. */
export class RunFixture {
  readonly first: TestProcess;
  readonly second: TestProcess;
  private readonly moved = new Map<string, TestProcess>();

  constructor(readonly database: SpecDatabase) {
    this.first = database.process();
    this.second = database.process();
  }

  /** A worker whose clock is off by an interval, such as `-25 hours`. */
  at(offset: string): TestProcess {
    const worker = this.moved.get(offset) ?? this.database.process(offset);
    this.moved.set(offset, worker);
    return worker;
  }

  async space(settings: Parameters<TestProcess['workspace']>[0] = {}): Promise<string> {
    return (await this.first.workspace(settings)).id;
  }

  /** Admits a run and moves it to a stage. Its claim lasts for `leaseMs`. */
  async run(stage: Reached, { by = this.first, spaceId, ...facts }: Chosen = {}): Promise<Claimed> {
    const space = spaceId ?? (await this.space());
    const runId = await by.run(space, { budgetMs, ...facts });
    const epoch = await by.take(runId, stage === 'completed' ? 'running' : stage, leaseMs);
    if (stage === 'completed') await by.finish(runId, epoch, succeeded);
    return { spaceId: space, runId, epoch };
  }

  /** The runs that a reconciler with that clock finds overdue. This postpones them. */
  async overdueAt(offset: string): Promise<string[]> {
    return (await this.at(offset).outbox.takeOverdue(10_000)).map(({ runId }) => runId);
  }

  /** Claims the run for a worker. Null if it cannot be claimed. */
  claim(runId: string, by = this.first): ReturnType<TestProcess['claim']> {
    return by.claim(runId, leaseMs);
  }

  /** The run as found by a sweep of that worker. The sweep changes all runs of the database. */
  async swept(runId: string, by = this.first): Promise<SweptRun | undefined> {
    return (await by.dispatch.sweep(10_000, leaseMs)).find((each) => each.runId === runId);
  }

  /**
   * Runs `act` and returns `expectedMs` if the run's row is due that long after it, however long `act` took;
   * otherwise the actual delay.
   */
  async restAfter(act: () => Promise<unknown>, runId: string, expectedMs: number): Promise<number> {
    const beforeMs = await this.nowMs();
    await act();
    const afterMs = await this.nowMs();
    const [row] = await this.first.sql<{ dueMs: number }>(
      'SELECT extract(epoch FROM due_at)::float * 1000 AS "dueMs" FROM outbox WHERE run_id = $1',
      [runId],
    );
    const dueMs = row?.dueMs ?? Number.NaN;
    return dueMs >= beforeMs + expectedMs && dueMs <= afterMs + expectedMs ? expectedMs : dueMs - beforeMs;
  }

  private async nowMs(): Promise<number> {
    const [row] = await this.first.sql<{ nowMs: number }>(
      'SELECT extract(epoch FROM router_now())::float * 1000 AS "nowMs"',
    );
    return row?.nowMs ?? Number.NaN;
  }

  /** Every row about a run. */
  async written(runId: string): Promise<Record<string, unknown>> {
    const [row] = await this.first.sql(
      `SELECT (SELECT to_jsonb(run) FROM run WHERE id = $1) AS run,
         (SELECT to_jsonb(outbox) FROM outbox WHERE run_id = $1) AS outbox,
         (SELECT to_jsonb(audit_record) FROM audit_record WHERE run_id = $1) AS audit,
         (SELECT jsonb_agg(ledger_entry) FROM ledger_entry WHERE run_id = $1) AS ledger,
         (SELECT jsonb_agg(payload ORDER BY kind) FROM payload WHERE run_id = $1) AS payloads,
         (SELECT jsonb_agg(idempotency_key) FROM idempotency_key WHERE run_id = $1) AS keys,
         (SELECT jsonb_agg(stored_object ORDER BY key) FROM stored_object WHERE owner_id = $1) AS objects`,
      [runId],
    );
    return { ...row };
  }

  async counters(spaceId: string): Promise<Record<string, unknown>> {
    const [row] = await this.first.sql(
      `SELECT inflight, committed_micros::float AS committed, held_micros::float AS held, backlog,
         balance_micros::float AS balance FROM workspace WHERE id = $1`,
      [spaceId],
    );
    return { ...row };
  }
}
