import {
  AdmissionRepository,
  type CancelAnswer,
  Database,
  databaseSettings,
  DispatchRepository,
  OutboxRepository,
  RunRepository,
  type Ending,
  HeldRunRepository,
  ProviderPauseRepository,
  retentionSettings,
  RunReader,
  WorkspaceRepository,
} from '#persistence';
import { readSettings } from '#schemas';
import { Pool, type QueryResultRow } from 'pg';
import { v7 } from 'uuid';
import type { Granted } from '../../libs/persistence/src/run-facts.js';
import { longTimeouts } from '../harness/long-timeouts.js';
import type { EndingKind, Start } from './commands.js';

type AdmitCommand = { mode: 'queued' | 'sync'; cost: number; key: number | null; variant: number };

/** One unit of the model is a cent. */
export const unitMicros = 10_000;
const leaseMs = 600_000;
const model = 'model/tested';

/** A workspace of the real database, with the verbs of gateways and workers. */
export class Real {
  readonly runIds: string[] = [];
  readonly database: Database;
  readonly outbox: OutboxRepository;
  private readonly admissions: AdmissionRepository;
  private readonly dispatch: DispatchRepository;
  private readonly pauses: ProviderPauseRepository;
  private readonly runs: RunRepository;
  private readonly heldRuns: HeldRunRepository;

  constructor(
    store: Store,
    readonly workspaceId: string,
    readonly name: string,
    connection = 0,
  ) {
    const database = store.databases[connection];
    if (!database) throw new Error(`unknown connection ${connection}`);
    this.database = database;
    this.outbox = new OutboxRepository(database);
    this.admissions = new AdmissionRepository(database);
    this.dispatch = new DispatchRepository(database);
    this.pauses = new ProviderPauseRepository(database);
    this.runs = new RunRepository(database, new RunReader(database, readSettings(retentionSettings, {})));
    this.heldRuns = new HeldRunRepository(database);
  }

  async admit({ mode, cost, key, variant }: AdmitCommand) {
    const runId = v7();
    const admitted = await this.admissions.admitRun({
      runId,
      workspaceId: this.workspaceId,
      model,
      provider: this.provider,
      mode,
      facts: {
        upstream: {},
        assets: [],
        chargesOnPolicyRejection: 'yes',
        budgetMs: 600_000,
        basis: 'flat',
        reported: [],
      },
      reservedMicros: cost * unitMicros,
      computedMicros: cost * unitMicros,
      credential: 'model',
      call: {
        requestId: v7(),
        route: 'model',
        origin: 'http://model',
        ...(key !== null && { idempotencyKey: `key-${key}` }),
      },
      ...(key !== null && { key: `key-${key}`, fingerprint: `0${variant}` }),
      body: Buffer.from('{}'),
    });
    if (admitted.kind === 'admitted') this.runIds.push(runId);
    return admitted;
  }

  /** A provider of the workspace's own, so that no other workspace's runs wait for it. */
  private get provider(): string {
    return `model-${this.workspaceId}`;
  }

  take = (most = 1) =>
    this.dispatch.takeRuns(this.provider, { held: new Map(), maxHeld: 1_000, most, leaseMs });
  /** Sweeps the runs of all workspaces, and returns those of this one. */
  sweep = async () =>
    (await this.dispatch.sweep(10_000, leaseMs)).filter((run) => run.workspaceId === this.workspaceId);
  pause = () => this.pauses.pause(this.provider, 'maintenance', 'model');
  resume = () => this.pauses.resume(this.provider, 'model');
  begin = (runId: string, epoch: number) => this.dispatch.beginSubmission(runId, epoch, leaseMs);
  save = (runId: string, epoch: number) => this.runs.saveHandle(runId, epoch, { step: 'poll' }, 700);
  postpone = async (runId: string, epoch: number, afterMs: number) =>
    (await this.dispatch.postpone(runId, epoch, afterMs)) !== null;
  finish = (runId: string, epoch: number, kind: EndingKind) =>
    this.runs.finishRun({ runId, epoch, workspaceId: this.workspaceId }, endings[kind]);
  leave = (runId: string, disconnected: boolean) => this.heldRuns.releaseRun(runId, disconnected);

  /** A run that was just admitted is known and has not expired. */
  async cancel(runId: string): Promise<CancelAnswer> {
    const answer = await this.runs.requestCancel(this.workspaceId, model, runId);
    if (answer === null || answer === 'aged_out') throw new Error(`run ${runId} is not found`);
    return answer;
  }

  /** Makes time pass: the lease of a dead worker lapses, and a pause ends. */
  async expire(runId: string): Promise<void> {
    await this.database.work.query(
      `WITH lapsed AS (
          UPDATE run SET lease_until = clock_timestamp() - interval '1 second' WHERE id = $1 AND lease_until IS NOT NULL
        )
        UPDATE outbox SET due_at = clock_timestamp() - interval '1 second'
        WHERE run_id = $1 AND queue = 'dispatch' AND NOT waiting`,
      [runId],
    );
  }

  /** The indices of runs, by the order of their admission here. */
  places(granted: readonly Granted[]): number[] {
    return granted.map(({ runId }) => this.runIds.indexOf(runId));
  }
}

const failed = (
  bucket: 'service_unavailable' | 'provider_error' | 'content_policy_violation',
  billable = false,
) => ({ outcome: 'failed', bucket, status: 502, detail: 'It failed.', billable }) as const;

const endings: Record<EndingKind, Ending> = {
  succeeded: { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') },
  unavailable: failed('service_unavailable'),
  provider_failed: failed('provider_error'),
  policy_billed: failed('content_policy_violation', true),
  cancelled: { outcome: 'cancelled' },
};

/** Several processes' connections to one test database. */
export class Store {
  private constructor(
    readonly databases: Database[],
    private readonly workspaces: WorkspaceRepository,
    private readonly pool: Pool,
    readonly close: () => Promise<void>,
  ) {}

  static async open(url: string, processes = 1): Promise<Store> {
    const settings = readSettings(databaseSettings, { DATABASE_URL: url, ...longTimeouts });
    const databases = Array.from({ length: processes }, () => Database.create(settings));
    const workspaces = new WorkspaceRepository(databases[0] as Database);
    const pool = new Pool({ connectionString: url, max: 2 });
    // Small chunks, so that the few runs of a model span several of them.
    await pool.query(
      'CREATE OR REPLACE FUNCTION backlog_chunk_size() RETURNS integer LANGUAGE sql IMMUTABLE RETURN 2',
    );
    return new Store(databases, workspaces, pool, async () => {
      await pool.end();
      await Promise.all(databases.map((database) => database.close()));
    });
  }

  /** The workspace as seen from each of the processes. */
  async workspace(start: Start): Promise<Real[]> {
    const { id, name } = await this.workspaces.create(`model-${v7()}`, {
      ...this.limitsOf(start),
      balanceMicros: start.balance === null ? null : start.balance * unitMicros,
    });
    return this.databases.map((_database, index) => new Real(this, id, name, index));
  }

  async setLimits(real: Real, limits: Omit<Start, 'balance'>): Promise<Granted[]> {
    return (await this.workspaces.change(real.name, this.limitsOf(limits), 'test')).granted;
  }

  async sql<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  private limitsOf({ inflight, committed, backlog }: Omit<Start, 'balance'>) {
    return {
      inflightLimit: inflight,
      committedLimitMicros: committed * unitMicros,
      backlogLimit: backlog,
      windowLimit: 1_000_000,
    };
  }
}
