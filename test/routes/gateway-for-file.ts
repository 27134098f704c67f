import { afterAll, beforeAll } from '@jest/globals';
import { builtInDirectories, loadCatalog } from '#catalog';
import { createLog, Metrics, noTracing } from '#observability';
import {
  Database,
  Dispatching,
  type Ending,
  type Workspace,
  type WorkspaceLimits,
  Workspaces,
  type WorkspaceSettings,
} from '#persistence';
import { createTransport, type Transport } from '#queue';
import { readSettings } from '#schemas';
import { createStore, type OpenedStore } from '#storage';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { createGateway } from '../../apps/gateway/src/gateway.js';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import {
  Caller,
  completedEarlier,
  createDatabase,
  failOnLeftovers,
  patience,
  type Submitted,
  temporaryFolder,
  type TestDatabase,
} from '../harness/index.js';

type WorkspaceFacts = WorkspaceSettings & WorkspaceLimits & { balanceMicros?: number | null };

export const jwtSecret = 'a-secret-of-tests-for-access-tokens-00';

/** A gateway of this process on a database of its own. No worker runs: tests take a run through its life. */
class RouteGateway {
  private constructor(
    readonly url: string,
    readonly database: Database,
    readonly store: OpenedStore['store'],
    private readonly app: NestFastifyApplication,
    private readonly transport: Transport,
    private readonly testDatabase: TestDatabase,
  ) {}

  static async start(env: Record<string, string>): Promise<RouteGateway> {
    const testDatabase = await createDatabase();
    const assets = temporaryFolder('assets');
    const settings = readSettings(gatewaySettings, {
      DATABASE_URL: testDatabase.url,
      ...patience,
      JWT_SECRET: jwtSecret,
      SIGNING_SECRET: 'a-secret-of-tests-for-cursors-00000000',
      ASSET_BASE_URL: 'http://assets.test',
      ASSET_DIR: assets,
      // The thread for larger ones is there in the built program only.
      BODY_CHECK_AT_ONCE: String(1024 * 1024),
      ...env,
    });
    const log = createLog('gateway', 'fatal');
    const database = new Database(settings);
    const transport = await createTransport(settings, log);
    const operators = settings.CATALOG_DIR === undefined ? [] : [settings.CATALOG_DIR];
    const catalog = await loadCatalog({ directories: [...builtInDirectories(), ...operators] });
    const storage = await createStore(settings);
    const app = await createGateway({
      settings,
      log,
      metrics: new Metrics(),
      tracing: noTracing,
      catalog: { current: catalog },
      database,
      transport,
      storage,
    });
    await app.listen(0, '127.0.0.1');
    return new RouteGateway(await app.getUrl(), database, storage.store, app, transport, testDatabase);
  }

  /** The address of its database, for programs beside it. */
  get databaseUrl(): string {
    return this.testDatabase.url;
  }

  /** The routes of the HTTP server, as it prints them itself. */
  printedRoutes(): string {
    const server: FastifyInstance = this.app.getHttpAdapter().getInstance();
    return server.printRoutes();
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.transport.close();
    await this.database.close();
    await this.testDatabase.drop();
  }

  /** A workspace of its own for each call: tests of a file cannot disturb each other. */
  async caller(
    facts: WorkspaceFacts = {},
    scopes: string[] = ['catalog', 'run'],
  ): Promise<{ caller: Caller; workspace: Workspace; keyId: string }> {
    return this.operate(async (workspaces) => {
      const workspace = await workspaces.create(`test-${process.hrtime.bigint()}`, facts);
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
    await completedEarlier(this.testDatabase.url, run, seconds);
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

/** Starts one gateway for the test file and returns how to get it. */
export function gatewayForFile(env: Record<string, string> = {}): () => RouteGateway {
  const gateways = gatewaysForFile(1, env);
  return () => gateways(0);
}

/** Starts gateways for the test file, each on a database of its own, and returns how to get them. */
export function gatewaysForFile(
  count: number,
  env: Record<string, string> = {},
): (index: number) => RouteGateway {
  const gateways: RouteGateway[] = [];
  beforeAll(async () => {
    for (let index = 0; index < count; index += 1) gateways.push(await RouteGateway.start(env));
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
  });
  failOnLeftovers();
  return (index) => {
    const gateway = gateways[index];
    if (gateway === undefined) throw new Error('the gateway did not start');
    return gateway;
  };
}
