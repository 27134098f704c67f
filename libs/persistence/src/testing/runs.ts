import { readSettings } from '#schemas';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { type Admission, AdmissionRepository, type Admitted } from '../admission.repository.js';
import { BudgetRepository } from '../budget.repository.js';
import { Database } from '../database.js';
import { DispatchRepository, type TakenRun } from '../dispatch.repository.js';
import { DueRowRepository } from '../due-row.repository.js';
import { OutboxRepository } from '../outbox.repository.js';
import { RunRepository } from '../run.repository.js';
import type { Workspace } from '../entities/workspace.entity.js';
import { HeldRunRepository } from '../held-run.repository.js';
import { ProviderKeyRepository } from '../provider-key.repository.js';
import { ProviderPauseRepository } from '../provider-pause.repository.js';
import { ProviderCheckRepository } from '../provider-check.repository.js';
import { ProviderHealthRepository } from '../provider-health.js';
import { OvershootRepository } from '../overshoot.repository.js';
import { ProviderSurpriseRepository } from '../provider-surprise.repository.js';
import { ProviderReader } from '../provider-reader.js';
import { RunReader } from '../run-reader.js';
import { type Ending, type Granted, payloadBody, type PayloadRow, type Written } from '../run-facts.js';
import { databaseSettings, retentionSettings } from '../settings.js';
import { StoredObjectRepository } from '../stored-object.repository.js';
import { RetentionRepository } from '../retention.repository.js';
import {
  type WorkspaceLimits,
  WorkspaceRepository,
  type WorkspaceSettings,
} from '../workspace.repository.js';

export const cents = (count: number): number => count * 10_000;

/** Longer than any spec takes. */
const leaseMs = 600_000;

const longTimeouts = { DATABASE_ACQUIRE_MS: '20000', DATABASE_STATEMENT_MS: '60000' };

/** Limits that a spec does not reach unless it lowers them. */
const roomy = { inflightLimit: 1_000, committedLimitMicros: cents(1_000_000), windowLimit: 100_000 };

/** One process: its connections and repositories. Two of these act as two gateways or two workers. */
export class TestProcess {
  readonly database: Database;
  readonly admissions: AdmissionRepository;
  readonly budgets: BudgetRepository;
  readonly dispatch: DispatchRepository;
  readonly dueRows: DueRowRepository;
  readonly runs: RunRepository;
  readonly heldRuns: HeldRunRepository;
  readonly outbox: OutboxRepository;
  readonly runReader: RunReader;
  readonly storedObjects: StoredObjectRepository;
  readonly keys: ProviderKeyRepository;
  readonly pauses: ProviderPauseRepository;
  readonly health: ProviderHealthRepository;
  readonly overshoots: OvershootRepository;
  readonly surprises: ProviderSurpriseRepository;
  readonly providers: ProviderReader;
  readonly retention: RetentionRepository;
  readonly workspaces: WorkspaceRepository;

  constructor(url: string, settings: Record<string, string> = {}, REDIS_URL?: string) {
    this.database = Database.create({
      ...readSettings(databaseSettings, { DATABASE_URL: url, ...longTimeouts, ...settings }),
      REDIS_URL,
    });
    this.admissions = new AdmissionRepository(this.database);
    this.budgets = new BudgetRepository(this.database);
    this.heldRuns = new HeldRunRepository(this.database);
    this.dispatch = new DispatchRepository(this.database);
    this.dueRows = new DueRowRepository(this.database);
    this.outbox = new OutboxRepository(this.database);
    const periods = readSettings(retentionSettings, {});
    this.runReader = new RunReader(this.database, periods);
    this.runs = new RunRepository(this.database, this.runReader);
    this.workspaces = new WorkspaceRepository(this.database);
    this.overshoots = new OvershootRepository(this.database);
    this.storedObjects = new StoredObjectRepository(this.database);
    this.keys = new ProviderKeyRepository(this.database);
    this.pauses = new ProviderPauseRepository(this.database);
    this.health = new ProviderHealthRepository(this.database, this.pauses);
    this.surprises = new ProviderSurpriseRepository(this.database);
    this.providers = new ProviderReader(
      this.database,
      this.outbox,
      this.health,
      new ProviderCheckRepository(this.database),
      this.surprises,
      this.keys,
    );
    this.retention = new RetentionRepository(this.database, periods);
  }

  /** Creates a workspace with high limits, except those given. */
  async workspace(
    settings: WorkspaceLimits & WorkspaceSettings & { balanceMicros?: number | null } = {},
  ): Promise<Workspace> {
    return this.workspaces.create(`workspace-${v7()}`, { ...roomy, ...settings });
  }

  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.work.query<Row>(text, values);
  }

  /** Runs several statements, which cannot be prepared as one. */
  async script(text: string): Promise<void> {
    await (await this.database.dataSource()).query(text);
  }

  async admit(workspaceId: string, facts: AdmissionFacts = {}): Promise<Admitted> {
    return this.admissions.admitRun(admissionOf(workspaceId, facts));
  }

  /** Grants the free slots of one workspace. */
  async promote(workspaceId: string): Promise<Granted[]> {
    return this.sql<Granted>('SELECT run_id AS "runId", provider FROM promote($1)', [workspaceId]);
  }

  /** Admits a run, which may be parked or ready, and returns its id. */
  async run(workspaceId: string, facts: AdmissionFacts = {}): Promise<string> {
    const admitted = await this.admit(workspaceId, facts);
    if (admitted.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(admitted)}`);
    return admitted.runId;
  }

  /** Claims the run, wherever it is in its line. Null if it cannot be claimed. */
  async claim(
    runId: string,
    lastingMs = leaseMs,
  ): Promise<Omit<TakenRun, 'runId' | 'provider' | 'keyName'> | null> {
    const [row] = await this.sql<Omit<TakenRun, 'runId' | 'provider' | 'keyName' | 'body'> & PayloadRow>(
      `SELECT epoch, workspace_id AS "workspaceId", model, facts, crashes, left_ms AS "leftMs",
         waited_ms AS "waitedMs", body, stored_as AS "storedAs"
       FROM take_run($1, $2 * interval '1 millisecond')`,
      [runId, lastingMs],
    );
    if (!row) return null;
    const { body, storedAs, ...claimed } = row;
    return { ...claimed, body: payloadBody({ body, storedAs }) };
  }

  /** Moves a ready run to a stage, as its worker would. Returns the epoch of the claim. */
  async take(
    runId: string,
    stage: 'claimed' | 'submitting' | 'running' | 'copying',
    lastingMs = leaseMs,
  ): Promise<number> {
    const claim = await this.claim(runId, lastingMs);
    if (!claim) throw new Error(`run ${runId} cannot be claimed`);
    const { epoch } = claim;
    const steps = {
      submitting: () => this.dispatch.beginSubmission(runId, epoch, lastingMs),
      running: () => this.runs.saveHandle(runId, epoch, testHandle, testPollMs),
      copying: () => this.runs.keepOutput(runId, epoch, 'application/json', Buffer.from('{}')),
    };
    const order = ['submitting', 'running', 'copying'] as const;
    for (const step of order.slice(0, order.findIndex((each) => each === stage) + 1)) {
      if (!(await steps[step]())) throw new Error(`run ${runId} did not reach ${step}`);
    }
    return epoch;
  }

  /** Moves a ready run to its outcome. */
  async runTo(runId: string, ending: Ending): ReturnType<RunRepository['finishRun']> {
    return this.finish(runId, await this.take(runId, 'running'), ending);
  }

  /** Finishes a run, like a worker that knows the workspace from its claim. */
  async finish(
    runId: string,
    epoch: number,
    ending: Ending,
    reportedMicros?: number,
    written?: Written,
  ): ReturnType<RunRepository['finishRun']> {
    const [run] = await this.sql<{ workspaceId: string }>(
      'SELECT workspace_id AS "workspaceId" FROM run WHERE id = $1',
      [runId],
    );
    return this.runs.finishRun({ runId, epoch, workspaceId: run?.workspaceId ?? v7() }, ending, {
      reportedMicros,
      written,
    });
  }

  /** The counters of a workspace’s live runs, and their peaks. */
  async counters(workspaceId: string): Promise<Counters> {
    const [counters] = await this.sql<Counters>(
      `SELECT inflight, committed_micros::float AS "committedMicros", held_micros::float AS "heldMicros", backlog,
         balance_micros::float AS "balanceMicros", window_count AS "windowCount",
         inflight_peak AS "inflightPeak", committed_peak_micros::float AS "committedPeakMicros"
       FROM workspace WHERE id = $1`,
      [workspaceId],
    );
    if (!counters) throw new Error(`there is no workspace ${workspaceId}`);
    return counters;
  }

  async stageOf(runId: string): Promise<string | undefined> {
    const [run] = await this.sql<{ stage: string }>('SELECT stage FROM run WHERE id = $1', [runId]);
    return run?.stage;
  }

  /** The number of sessions of this database that wait for a lock. */
  async waiting(): Promise<number> {
    const [row] = await this.sql<{ sessions: number }>(
      `SELECT count(*)::integer AS sessions FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return row?.sessions ?? 0;
  }

  async close(): Promise<void> {
    await this.database.close();
  }
}

/** The offset that sets the clock to that second of a minute. The database runs on the machine of the tests. */
export const offsetToSecond = (second: number): string =>
  `${second * 1000 - (Date.now() % 60_000)} milliseconds`;

interface Counters {
  inflight: number;
  committedMicros: number;
  heldMicros: number;
  backlog: number;
  balanceMicros: number | null;
  windowCount: number;
  inflightPeak: number;
  committedPeakMicros: number;
}

/**
 * Locks the row of a workspace, which every admission and every outcome needs. Returns a function that releases it.
 */
export async function holdWorkspace(url: string, workspaceId: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM workspace WHERE id = $1 FOR NO KEY UPDATE', [workspaceId]);
  return () => client.end();
}

/** The options of an admission. A `key`, or a call that is held without one, gets the fingerprint `0a` by default. */
export type AdmissionFacts = Partial<
  Pick<
    Admission,
    | 'runId'
    | 'model'
    | 'provider'
    | 'mode'
    | 'reservedMicros'
    | 'likelyMicros'
    | 'computedMicros'
    | 'credential'
    | 'call'
    | 'key'
    | 'fingerprint'
    | 'heldBy'
    | 'body'
  >
> & { budgetMs?: number; requestId?: string; runFacts?: Partial<Admission['facts']> };

export const testModel = 'tested/model';
export const testProvider = 'tested';
export const testHandle = { step: 'poll' };
export const testPollMs = 700;

export function admissionOf(workspaceId: string, facts: AdmissionFacts = {}): Admission {
  const { budgetMs = 600_000, key, heldBy, fingerprint = '0a', requestId = v7(), runFacts, ...rest } = facts;
  return {
    runId: v7(),
    workspaceId,
    model: testModel,
    provider: testProvider,
    mode: 'queued',
    facts: {
      upstream: {},
      assets: [],
      chargesOnPolicyRejection: 'yes',
      budgetMs,
      basis: 'flat',
      reported: [],
      ...runFacts,
    },
    reservedMicros: cents(1),
    computedMicros: rest.reservedMicros ?? cents(1),
    credential: 'token:tester',
    call: {
      requestId,
      route: 'POST /tested',
      origin: 'http://router.example.com',
      ...(key !== undefined && { idempotencyKey: key }),
    },
    ...(key !== undefined && { key, fingerprint }),
    ...(heldBy !== undefined && { heldBy, fingerprint }),
    body: Buffer.from('{}'),
    ...rest,
  };
}

export const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"done":true}'),
};

export const cancelled: Ending = { outcome: 'cancelled' };

export const failed = (
  bucket: 'provider_error' | 'content_policy_violation' | 'service_unavailable',
  billable = false,
): Ending => ({
  outcome: 'failed',
  bucket,
  status: 502,
  detail: 'It failed.',
  billable,
});
