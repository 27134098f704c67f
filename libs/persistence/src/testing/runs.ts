import { readSettings } from '#schemas';
import type { QueryResultRow } from 'pg';
import { v7 } from 'uuid';
import { type Admission, Admissions, type Admitted } from '../admission.js';
import { Database } from '../database.js';
import { Deliveries } from '../deliveries.js';
import { Dispatching } from '../dispatching.js';
import type { Workspace } from '../entities/workspace.entity.js';
import { Holding } from '../holding.js';
import { ProviderPauses } from '../provider-pauses.js';
import { RunAnswers } from '../run-answers.js';
import type { Ending } from '../run-facts.js';
import { databaseSettings, upkeepSettings } from '../settings.js';
import { StoredObjects } from '../stored-objects.js';
import { Upkeep } from '../upkeep.js';
import { type WorkspaceLimits, Workspaces } from '../workspaces.js';

export const cents = (count: number): number => count * 10_000;

/** Longer than any spec takes. */
export const leaseMs = 600_000;

const patient = { DATABASE_ACQUIRE_MS: '20000', DATABASE_STATEMENT_MS: '20000' };

/** Allowances that nothing runs into unless a spec says so; the window is always an hour’s worth of runs. */
const roomy = { inflightLimit: 1_000, committedLimitMicros: cents(1_000_000), windowLimit: 100_000 };

/** One process: its connections and the repositories on them. Two of them are two gateways or two workers. */
export class TestProcess {
  readonly database: Database;
  readonly admissions: Admissions;
  readonly dispatching: Dispatching;
  readonly holding: Holding;
  readonly deliveries: Deliveries;
  readonly answers: RunAnswers;
  readonly objects: StoredObjects;
  readonly pauses: ProviderPauses;
  readonly upkeep: Upkeep;
  private opened: ReturnType<Database['openDataSource']> | undefined;

  constructor(url: string) {
    this.database = new Database(readSettings(databaseSettings, { DATABASE_URL: url, ...patient }));
    this.admissions = new Admissions(this.database);
    this.dispatching = new Dispatching(this.database);
    this.holding = new Holding(this.database);
    this.deliveries = new Deliveries(this.database);
    const periods = readSettings(upkeepSettings, {});
    this.answers = new RunAnswers(this.database, periods);
    this.objects = new StoredObjects(this.database);
    this.pauses = new ProviderPauses(this.database);
    this.upkeep = new Upkeep(this.database, periods);
  }

  /** What operators’ commands use. */
  async workspaces(): Promise<Workspaces> {
    this.opened ??= this.database.openDataSource();
    return new Workspaces(await this.opened);
  }

  /** A workspace with room for everything but what is given. */
  async workspace(settings: WorkspaceLimits & { balanceMicros?: number | null } = {}): Promise<Workspace> {
    return (await this.workspaces()).create(`workspace-${v7()}`, { ...roomy, ...settings });
  }

  async sql<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.database.write<Row>({ name: '', text }, values);
  }

  async admit(workspaceId: string, facts: AdmissionFacts = {}): Promise<Admitted> {
    return this.admissions.admit(admissionOf(workspaceId, facts));
  }

  /** The id of a run that was admitted, parked or ready. */
  async run(workspaceId: string, facts: AdmissionFacts = {}): Promise<string> {
    const admitted = await this.admit(workspaceId, facts);
    if (admitted.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(admitted)}`);
    return admitted.runId;
  }

  /** Takes a ready run to a stage as its worker does; answers the epoch of the worker's claim. */
  async take(
    runId: string,
    stage: 'claimed' | 'submitting' | 'running' | 'copying',
    lastingMs = leaseMs,
  ): Promise<number> {
    const claim = await this.dispatching.claim(runId, lastingMs);
    if (claim.kind !== 'claimed') throw new Error(`run ${runId} is ${claim.kind}`);
    const { epoch } = claim;
    const steps = {
      submitting: () => this.dispatching.beginSubmission(runId, epoch, lastingMs),
      running: () => this.dispatching.saveHandle(runId, epoch, testHandle, testPollMs),
      copying: () => this.dispatching.keepOutput(runId, epoch, 'application/json', Buffer.from('{}')),
    };
    const order = ['submitting', 'running', 'copying'] as const;
    for (const step of order.slice(0, order.findIndex((each) => each === stage) + 1)) {
      if (!(await steps[step]())) throw new Error(`run ${runId} did not come to ${step}`);
    }
    return epoch;
  }

  /** The whole life of a ready run, up to its outcome. */
  async runTo(runId: string, ending: Ending): ReturnType<Dispatching['finish']> {
    return this.dispatching.finish(runId, await this.take(runId, 'running'), ending);
  }

  async close(): Promise<void> {
    await (await this.opened)?.destroy();
    await this.database.close();
  }
}

/** What specs choose of an admission; `key` with the fingerprint `0a`. */
export type AdmissionFacts = Partial<
  Pick<Admission, 'runId' | 'model' | 'provider' | 'mode' | 'reservedMicros' | 'key' | 'fingerprint' | 'body'>
> & { budgetMs?: number; requestId?: string };

export const testModel = 'tested/model';
export const testProvider = 'tested';
export const testHandle = { step: 'poll' };
export const testPollMs = 700;

export function admissionOf(workspaceId: string, facts: AdmissionFacts = {}): Admission {
  const { budgetMs = 600_000, key, fingerprint = '0a', requestId = v7(), ...rest } = facts;
  return {
    runId: v7(),
    workspaceId,
    model: testModel,
    provider: testProvider,
    mode: 'queued',
    facts: { upstream: {}, assets: [], chargesOnPolicyRejection: 'yes', budgetMs },
    reservedMicros: cents(1),
    call: {
      requestId,
      route: 'POST /tested',
      credential: 'token:tester',
      origin: 'http://router.example.com',
      ...(key !== undefined && { idempotencyKey: key }),
    },
    ...(key !== undefined && { key, fingerprint }),
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

export const failed = (bucket: 'provider_error' | 'content_policy_violation', billable = false): Ending => ({
  outcome: 'failed',
  bucket,
  status: 502,
  detail: 'It failed.',
  billable,
});
