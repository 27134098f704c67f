import type { SweptRun } from '../dispatch.repository.js';
import { type AdmissionFacts, succeeded, type TestProcess } from './runs.js';
import { SpecDatabase } from './spec-database.js';

/** Longer than any spec takes, and short against the time that a run has. */
export const leaseMs = 3_600_000;
export const budgetMs = 10 * leaseMs;

type Reached = 'claimed' | 'submitting' | 'running' | 'copying' | 'completed';

/** A run as the worker knows it that claimed it. */
export interface Claimed {
  spaceId: string;
  runId: string;
  epoch: number;
}

/** What a case chooses of its run. `space` is a workspace of its own when it is not given. */
interface Chosen extends AdmissionFacts {
  spaceId?: string;
  by?: TestProcess;
}

/** Runs on a database that ends with the spec file. */
export const openRunFixture = async (): Promise<RunFixture> => new RunFixture(await SpecDatabase.create());

/** The database of one spec and the processes that share it: two workers of today, and those of other days. */
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

  /** Admits a run and takes it to a stage; its claim stands for `leaseMs`. */
  async run(stage: Reached, { by = this.first, spaceId, ...facts }: Chosen = {}): Promise<Claimed> {
    const space = spaceId ?? (await this.space());
    const runId = await by.run(space, { budgetMs, ...facts });
    const epoch = await by.take(runId, stage === 'completed' ? 'running' : stage, leaseMs);
    if (stage === 'completed') await by.finish(runId, epoch, succeeded);
    return { spaceId: space, runId, epoch };
  }

  /** The runs that a sweep on that clock finds overdue; it puts them off. */
  async overdueAt(offset: string): Promise<string[]> {
    return (await this.at(offset).outbox.takeOverdue(10_000)).map(({ runId }) => runId);
  }

  /** Claims that run as this worker; null when it is not given out. */
  claim(runId: string, by = this.first): ReturnType<TestProcess['claim']> {
    return by.claim(runId, leaseMs);
  }

  /** The run as a sweep of that worker finds it, which changes all runs of this database. */
  async swept(runId: string, by = this.first): Promise<SweptRun | undefined> {
    return (await by.dispatch.sweep(10_000, leaseMs)).find((each) => each.runId === runId);
  }

  /** Answers `expectedMs` when the run's row rests that long from `act` on, whatever time that took; else how long it rests. */
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

  /** Everything that is written about a run. */
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
