import {
  type Admission,
  AdmissionRepository,
  type Database,
  DispatchRepository,
  RunRepository,
  type Ending,
  HeldRunRepository,
  RunReader,
  retentionSettings,
  type WebhookAddress,
} from '#persistence';
import { readSettings } from '#schemas';
import { v7 } from 'uuid';

interface AdmittedRun {
  runId: string;
  requestId: string;
}

interface Call {
  workspaceId: string;
  credential: string;
  mode?: 'queued' | 'sync';
  model?: string;
  route?: string;
  webhook?: WebhookAddress;
}

export const costMicros = 70_001;
export const provider = 'bfl';
const leaseMs = 60_000;
const usualModel = 'bfl/flux-2-pro';

export const plainFacts: Admission['facts'] = {
  upstream: {},
  assets: [],
  chargesOnPolicyRejection: 'no',
  budgetMs: 60_000,
  basis: 'computed',
  reported: [],
};

export const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{}'),
};

export const refused = (billable: boolean): Ending => ({
  outcome: 'failed',
  bucket: 'content_policy_violation',
  status: 400,
  detail: 'It was refused.',
  billable,
});

export const failed = (bucket: 'provider_error' | 'invalid_input', status: number): Ending => ({
  outcome: 'failed',
  bucket,
  status,
  detail: 'It failed.',
  billable: false,
});

/** Takes runs through their stages with the verbs of gateways and workers. */
export class RunMaker {
  private readonly admissions: AdmissionRepository;
  private readonly dispatch: DispatchRepository;
  private readonly runs: RunRepository;
  private readonly heldRuns: HeldRunRepository;

  constructor(private readonly database: Database) {
    this.dispatch = new DispatchRepository(database);
    this.admissions = new AdmissionRepository(database);
    this.runs = new RunRepository(database, new RunReader(database, readSettings(retentionSettings, {})));
    this.heldRuns = new HeldRunRepository(database);
  }

  async admit({
    workspaceId,
    credential,
    mode = 'queued',
    model = usualModel,
    route = 'test',
    webhook,
  }: Call) {
    const run: AdmittedRun = { runId: v7(), requestId: v7() };
    const admitted = await this.admissions.admitRun({
      runId: run.runId,
      workspaceId,
      model,
      provider,
      mode,
      facts: plainFacts,
      reservedMicros: costMicros,
      computedMicros: costMicros,
      credential,
      call: { requestId: run.requestId, route, origin: 'http://127.0.0.1', ...(webhook && { webhook }) },
      body: Buffer.from('{}'),
    });
    if (admitted.kind !== 'admitted') throw new Error(`the run is ${admitted.kind}`);
    return run;
  }

  /** Marks it as submitted and then ends it; `meanwhile` runs before the end. */
  async end(run: AdmittedRun, ending: Ending, meanwhile = async () => {}): Promise<void> {
    const [claim] = await this.database.work.query<{ epoch: number; workspaceId: string }>(
      `SELECT epoch, workspace_id AS "workspaceId" FROM take_run($1, $2 * interval '1 millisecond')`,
      [run.runId, leaseMs],
    );
    if (!claim) throw new Error('the run was not claimed');
    await this.dispatch.beginSubmission(run.runId, claim.epoch, leaseMs);
    await this.runs.saveHandle(run.runId, claim.epoch, { step: 'poll' }, 1_000);
    await meanwhile();
    const { won } = await this.runs.finishRun(
      { runId: run.runId, epoch: claim.epoch, workspaceId: claim.workspaceId },
      ending,
    );
    if (!won) throw new Error('the run was already finished');
  }

  async made(call: Call, ending: Ending): Promise<AdmittedRun> {
    const run = await this.admit(call);
    await this.end(run, ending);
    return run;
  }

  /** Marks the caller as gone. Returns what happens to the run. */
  async leave({ runId }: AdmittedRun): Promise<string> {
    return (await this.heldRuns.releaseRun(runId, true)).found;
  }

  async cancel({ runId }: AdmittedRun, { workspaceId, model = usualModel }: Call): Promise<string> {
    const answer = await this.runs.requestCancel(workspaceId, model, runId);
    return answer === null || answer === 'aged_out' ? 'nothing' : answer.found;
  }
}
