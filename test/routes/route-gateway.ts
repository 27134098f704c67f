import {
  Database,
  Dispatching,
  type Ending,
  type Workspace,
  type WorkspaceLimits,
  Workspaces,
  type WorkspaceSettings,
} from '#persistence';
import { readSettings } from '#schemas';
import { createStore, type OpenedStore, storageSettings } from '#storage';
import { Caller, completedEarlier, type Submitted } from '../harness/index.js';
import { patientDatabase } from '../harness/patience.js';
import { gatewayEnvironment } from '../harness/shared/described.js';

export { jwtSecret } from '../harness/shared/described.js';

type WorkspaceFacts = WorkspaceSettings & WorkspaceLimits & { balanceMicros?: number | null };

/** A running gateway as route specs use it. No worker runs: tests take a run through its life. */
export class RouteGateway {
  readonly database: Database;
  private opened: OpenedStore | undefined;

  constructor(
    readonly url: string,
    /** The address of its database, for programs beside it. */
    readonly databaseUrl: string,
    private readonly assets: string,
  ) {
    this.database = patientDatabase(databaseUrl);
  }

  /** Ends the connections of this process; the gateway goes on. */
  async close(): Promise<void> {
    await this.database.close();
    await this.opened?.store.close();
  }

  /** Where the gateway keeps large inputs. */
  async store(): Promise<OpenedStore['store']> {
    const settings = readSettings(storageSettings, gatewayEnvironment(this.databaseUrl, this.assets));
    this.opened ??= await createStore(settings);
    return this.opened.store;
  }

  /** A workspace of its own for each call: tests cannot disturb each other. */
  async caller(
    facts: WorkspaceFacts = {},
    scopes: string[] = ['catalog', 'run'],
  ): Promise<{ caller: Caller; workspace: Workspace; keyId: string }> {
    return this.operate(async (workspaces) => {
      const workspace = await workspaces.create(`test-${process.pid}-${process.hrtime.bigint()}`, facts);
      const { key, row } = await workspaces.createKey(workspace.name, {
        name: 'test',
        scopes,
        expiresAt: null,
      });
      return { caller: new Caller(() => [this.url], key), workspace, keyId: row.id };
    });
  }

  async operate<Result>(act: (workspaces: Workspaces) => Promise<Result>): Promise<Result> {
    const dataSource = await this.database.openDataSource();
    try {
      return await act(new Workspaces(dataSource));
    } finally {
      await dataSource.destroy();
    }
  }

  /** Sends the run to its partner, as far as the database knows; the epoch of the claim. */
  async dispatch(run: Submitted): Promise<number> {
    const dispatching = new Dispatching(this.database);
    const claim = await dispatching.claim(run.requestId, 60_000);
    if (claim.kind !== 'claimed') throw new Error(`the run is ${claim.kind}`);
    await dispatching.beginSubmission(run.requestId, claim.epoch, 60_000);
    await dispatching.saveHandle(run.requestId, claim.epoch, { v: 1, step: 'poll' }, 1_000);
    return claim.epoch;
  }

  async finish(run: Submitted, ending: Ending): Promise<void> {
    const epoch = await this.dispatch(run);
    const { won } = await new Dispatching(this.database).finish(run.requestId, epoch, ending);
    if (!won) throw new Error('the run was finished by somebody else');
  }

  /** Moves the end of a finished run into the past. No worker comes by: the row stays. */
  async completedEarlier(run: Submitted, seconds: number): Promise<void> {
    await completedEarlier(this.databaseUrl, run, seconds);
  }

  /** The input of a run as it was stored. */
  async storedInput(run: Submitted): Promise<Buffer> {
    const statement = {
      name: 'test_input',
      text: `SELECT body FROM payload WHERE run_id = $1 AND kind = 'input'`,
    };
    const [row] = await this.database.read<{ body: Buffer }>(statement, [run.requestId]);
    if (!row) throw new Error('no input was stored');
    return row.body;
  }
}
