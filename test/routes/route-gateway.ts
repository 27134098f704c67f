import {
  type ClaimedRun,
  ApiKeyRepository,
  type Database,
  DispatchRepository,
  retentionSettings,
  RunReader,
  RunRepository,
  type Ending,
  StoredObjectRepository,
  type Workspace,
  type WorkspaceLimits,
  WorkspaceRepository,
} from '#persistence';
import { readSettings, type Tags } from '#schemas';
import { runKeys } from '#storage';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { WorkspaceSettings } from '../../libs/persistence/src/workspace.repository.js';
import { Caller, type Submitted } from '../harness/caller.js';
import { withClockAt } from '../harness/database.js';
import { harnessDatabase } from '../harness/long-timeouts.js';
import type { RunningApp } from '../harness/spawn-app.js';
import { waitFor } from '../harness/wait-for.js';

type WorkspaceFacts = WorkspaceSettings & WorkspaceLimits & { balanceMicros?: number | null };

/** Makes another key of the workspace, whose runs get these tags. */
type KeyWith = (tags: Tags, scopes?: string[]) => Promise<Caller>;

/** Now, or a time ago such as `25 hours`: the clock of the connection is set back. */
interface Moment {
  ago?: string;
}

/** A running gateway as route specs use it. No worker runs; tests move a run through its stages. */
export class RouteGateway {
  readonly database: Database;
  private readonly past = new Map<string, Database>();

  constructor(
    private readonly app: Pick<RunningApp, 'url' | 'internalUrl' | 'logs'>,
    /** The address of its database, for programs that run beside it. */
    readonly databaseUrl: string,
    /** Its folder of assets. */
    readonly assets: string,
  ) {
    this.database = harnessDatabase(databaseUrl);
  }

  get url(): string {
    return this.app.url;
  }

  get internalUrl(): string {
    return this.app.internalUrl;
  }

  logs(): string {
    return this.app.logs();
  }

  /** Closes the connections of this process; the gateway keeps running. */
  async close(): Promise<void> {
    await Promise.all([this.database, ...this.past.values()].map((database) => database.close()));
  }

  /** Creates a new workspace for each call, so that tests cannot disturb each other. */
  async caller(
    facts: WorkspaceFacts = {},
    scopes: string[] = ['catalog', 'run'],
  ): Promise<{ caller: Caller; workspace: Workspace; keyId: string; keyWith: KeyWith }> {
    return this.operate(async (workspaces) => {
      const workspace = await workspaces.create(`test-${process.pid}-${process.hrtime.bigint()}`, facts);
      const keys = new ApiKeyRepository(this.database);
      const made = async (facts: { scopes: string[]; tags?: Tags }) => {
        const { key, row } = await keys.create(
          workspace.id,
          { name: 'test', expiresAt: null, ...facts },
          { actor: 'test' },
        );
        return { caller: new Caller(() => [this.url], key), keyId: row.id };
      };
      const keyWith: KeyWith = async (tags, its = scopes) => (await made({ scopes: its, tags })).caller;
      return { ...(await made({ scopes })), workspace, keyWith };
    });
  }

  async operate<Result>(act: (workspaces: WorkspaceRepository) => Promise<Result>): Promise<Result> {
    return act(new WorkspaceRepository(this.database));
  }

  /** Waits for the first run of a workspace, because a synchronous call does not report its id. */
  async admittedRun({ id }: Workspace): Promise<Submitted> {
    const statement = 'SELECT id AS "requestId", model FROM run WHERE workspace_id = $1 ORDER BY id LIMIT 1';
    const admitted = async () =>
      (await this.database.reads.query<{ requestId: string; model: string }>(statement, [id]))[0];
    const run = await waitFor(admitted, { withinMs: 60_000, what: 'a run to be admitted' });
    return { ...run, body: '' };
  }

  /** Marks the run as submitted to its provider in the database. */
  async dispatch(run: Submitted, moment: Moment = {}): Promise<ClaimedRun> {
    const claimed = await this.submit(run, moment);
    await runsOf(this.databaseAt(moment)).saveHandle(
      run.requestId,
      claimed.epoch,
      { v: 1, step: 'poll' },
      1_000,
    );
    return claimed;
  }

  /** Puts a waiting run back, as after a 429 of its provider. */
  async refuse(run: Submitted): Promise<void> {
    const { runId, epoch } = await this.submit(run, {});
    await new DispatchRepository(this.database).postpone(runId, epoch, 0);
  }

  /** Takes a waiting run to its end. */
  async finish(run: Submitted, ending: Ending, moment: Moment = {}): Promise<void> {
    await this.end(await this.dispatch(run, moment), ending, moment);
  }

  /** Ends a dispatched run. */
  async end(run: ClaimedRun, ending: Ending, moment: Moment = {}): Promise<void> {
    const { won } = await runsOf(this.databaseAt(moment)).finishRun(run, ending);
    if (!won) throw new Error('the run was already finished');
  }

  /** The stored input of a run, and whether it is stored outside the database, as large ones are. */
  async storedInput(run: Submitted): Promise<{ bytes: Buffer; beside: boolean }> {
    const statement = `SELECT body, stored_as AS "storedAs" FROM payload
        LEFT JOIN stored_object ON key = stored_as AND delete_at = 'infinity'
        WHERE payload.run_id = $1 AND kind = 'input' AND (stored_as IS NULL OR key IS NOT NULL)`;
    const [row] = await this.database.reads.query<{ body: Buffer | null; storedAs: string | null }>(
      statement,
      [run.requestId],
    );
    if (!row) throw new Error('no input was stored');
    return row.storedAs === null
      ? { bytes: row.body ?? Buffer.alloc(0), beside: false }
      : { bytes: readFileSync(path.join(this.assets, row.storedAs)), beside: true };
  }

  /** Counts the rows of a run's objects, and lists its files in the store. */
  async objectsOf({ requestId }: Submitted): Promise<{ rows: number; files: string[] }> {
    const rows = await this.database.reads.query('SELECT 1 FROM stored_object WHERE owner_id = $1', [
      requestId,
    ]);
    const files = readdirSync(this.assets, { recursive: true }).map(String);
    return { rows: rows.length, files: files.filter((name) => name.includes(requestId)) };
  }

  /** Prepares an output outside the database; `put` stores it. */
  async outputBeside(run: Submitted): Promise<{ storedAs: string; put: (bytes: Buffer) => void }> {
    const storedAs = runKeys.output(run.requestId);
    await new StoredObjectRepository(this.database).note(storedAs, run.requestId, 600);
    return {
      storedAs,
      put: (bytes) => {
        const file = path.join(this.assets, storedAs);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, bytes);
      },
    };
  }

  /** Waits until a statement that starts with `beginning` waits for a lock. */
  async waitsForLock(beginning: string): Promise<void> {
    const statement = `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1 || '%'`;
    await waitFor(async () => (await this.database.reads.query(statement, [beginning])).length > 0, {
      withinMs: 60_000,
      what: `${beginning} to wait`,
    });
  }

  /** Claims this run, wherever it is in the queue, and begins its submission. */
  private async submit({ requestId: runId }: Submitted, moment: Moment): Promise<ClaimedRun> {
    const database = this.databaseAt(moment);
    const take = `SELECT epoch, workspace_id AS "workspaceId" FROM take_run($1, interval '1 minute')`;
    // The claim skips the run while its row is locked, for example by a gateway whose caller leaves.
    const claim = await waitFor(
      async () => (await database.work.query<Omit<ClaimedRun, 'runId'>>(take, [runId]))[0],
      { withinMs: 15_000, what: `run ${runId} to be claimed` },
    );
    await new DispatchRepository(database).beginSubmission(runId, claim.epoch, 60_000);
    return { runId, ...claim };
  }

  private databaseAt({ ago }: Moment): Database {
    if (ago === undefined) return this.database;
    const database = this.past.get(ago) ?? harnessDatabase(withClockAt(this.databaseUrl, `${ago} ago`));
    this.past.set(ago, database);
    return database;
  }
}

const runsOf = (database: Database) =>
  new RunRepository(database, new RunReader(database, readSettings(retentionSettings, {})));
