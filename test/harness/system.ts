import {
  type Database,
  Deliveries,
  type WorkspaceLimits,
  Workspaces,
  type WorkspaceSettings,
} from '#persistence';
import { providerList } from '#providers';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Pool, type QueryResultRow } from 'pg';
import { freePort } from './ports.js';
import { Caller } from './caller.js';
import { createDatabase, type TestDatabase } from './database.js';
import { PartnerSide } from './partner-side.js';
import { patience, patientDatabase } from './patience.js';
import { startDatabaseServer } from './own-postgres.js';
import { startRedis, type TestServer } from './servers.js';
import { temporaryFolder } from './running.js';
import { type App, spawnApp, type SpawnOptions } from './spawn-app.js';
import type { TransportKind } from './transports.js';

interface SystemOptions {
  transport: TransportKind;
  gateways?: number;
  workers?: number;
  /** Time a simulated generation takes. */
  takesMs?: number;
  /** A Postgres of the system's own, to kill and freeze; default a database on the one of the whole run. */
  ownPostgres?: boolean;
  /** Keys that the simulated partners have given out, for those that do not take every text for one. */
  issuedKeys?: true;
  /** For both apps. */
  env?: Record<string, string>;
}

const secret = 'a-secret-of-tests-that-is-long-enough-0';

/** The whole service as real processes on a database and a transport of its own. */
export class System {
  readonly gateways: App[] = [];
  readonly workers: App[] = [];
  /** Every app that was ever started, for a look at their logs. */
  readonly apps: App[] = [];
  readonly partner: PartnerSide;
  private partnerKeys: Record<string, string> = {};
  private readonly pool: Pool;
  private readonly store: Database;
  /** Where assets and large payloads lie. */
  readonly assets = temporaryFolder('assets');
  /** API keys given out: none may show in a log. */
  readonly secrets: string[] = [secret];

  private constructor(
    readonly database: TestDatabase,
    readonly redis: TestServer | undefined,
    readonly simulator: App,
    private readonly postgresServer: TestServer | undefined,
    /** Of the first gateway, to which the links of copied assets lead. */
    private readonly firstPort: number,
    private readonly extraEnv: Record<string, string>,
  ) {
    this.partner = new PartnerSide(simulator);
    this.pool = new Pool({ connectionString: database.url, max: 3, application_name: 'oracle' });
    // A test may end the server under an idle connection.
    this.pool.on('error', () => {});
    this.store = patientDatabase(database.url);
  }

  static async start(options: SystemOptions): Promise<System> {
    const [{ database, server }, redis, simulator] = await Promise.all([
      options.ownPostgres ? startDatabaseServer() : { database: await createDatabase(), server: undefined },
      options.transport === 'redis' ? startRedis() : undefined,
      spawnApp('simulator', { SIMULATOR_DEFAULT_MS: String(options.takesMs ?? 300) }),
    ]);
    await simulator.ready;
    const firstPort = await freePort();
    const system = new System(database, redis, simulator, server, firstPort, options.env ?? {});
    if (options.issuedKeys) system.partnerKeys = await system.partner.keys();
    await Promise.all([
      ...Array.from({ length: options.gateways ?? 1 }, (_, index) =>
        system.startGateway({}, index === 0 ? { port: firstPort } : {}),
      ),
      ...Array.from({ length: options.workers ?? 1 }, () => system.startWorker()),
    ]);
    return system;
  }

  /** The system's own Postgres. */
  get postgres(): TestServer {
    if (!this.postgresServer) throw new Error('This system was started without `ownPostgres`');
    return this.postgresServer;
  }

  async startGateway(env: Record<string, string> = {}, options?: SpawnOptions): Promise<App> {
    const app = await spawnApp('gateway', { ...this.env(), ...env }, options);
    this.apps.push(app);
    await app.ready;
    // Callers are sent to it from now on.
    this.gateways.push(app);
    return app;
  }

  async startWorker(env: Record<string, string> = {}, options?: SpawnOptions): Promise<App> {
    const app = await this.spawnWorker(env, options);
    await app.ready;
    return app;
  }

  /** For a worker that may end before anyone sees that it was ready. */
  async spawnWorker(env: Record<string, string> = {}, options?: SpawnOptions): Promise<App> {
    const app = await spawnApp('worker', { ...this.env(), ...env }, options);
    this.workers.push(app);
    this.apps.push(app);
    return app;
  }

  /** `kill -9`, and no longer counted among the gateways or workers. */
  async kill(app: App): Promise<void> {
    await app.kill('SIGKILL');
    this.forget(app);
  }

  forget(app: App): void {
    for (const list of [this.gateways, this.workers]) {
      const index = list.indexOf(app);
      if (index >= 0) list.splice(index, 1);
    }
  }

  /** A workspace of its own with a key; the caller spreads its calls over all gateways. */
  async caller(
    facts: WorkspaceSettings & WorkspaceLimits & { balanceMicros?: number } = {},
    name = `w-${Math.random().toString(36).slice(2)}`,
  ): Promise<Caller & { workspaceId: string; workspace: string }> {
    const { key, workspaceId } = await this.operate(async (workspaces) => {
      const workspace = await workspaces.create(name, facts);
      const created = await workspaces.createKey(name, {
        name: 'test',
        scopes: ['catalog', 'run'],
        expiresAt: null,
      });
      return { key: created.key, workspaceId: workspace.id };
    });
    this.secrets.push(key);
    const caller = new Caller(() => this.gateways.map((gateway) => gateway.url), key);
    return Object.assign(caller, { workspaceId, workspace: name });
  }

  /** What an operator does. */
  async operate<T>(act: (workspaces: Workspaces) => Promise<T>): Promise<T> {
    const dataSource = await this.store.openDataSource();
    try {
      return await act(new Workspaces(dataSource));
    } finally {
      await dataSource.destroy();
    }
  }

  async sql<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** The bytes of an input or an output as it is kept, wherever that is; undefined when there is none. */
  async payload(runId: string, kind: 'input' | 'output'): Promise<Buffer | undefined> {
    const [row] = await this.sql<{ body: Buffer | null; storedAs: string | null }>(
      'SELECT body, stored_as AS "storedAs" FROM payload WHERE run_id = $1 AND kind = $2',
      [runId, kind],
    );
    return (
      row &&
      (row.storedAs === null ? (row.body ?? undefined) : readFileSync(path.join(this.assets, row.storedAs)))
    );
  }

  /** Counters that differ from what they count. */
  drift(): ReturnType<Deliveries['drift']> {
    return new Deliveries(this.store).drift();
  }

  async stop(): Promise<void> {
    const exits = await Promise.all(this.apps.map((app) => app.stop()));
    await this.simulator.stop();
    await this.pool.end();
    await this.store.close();
    await this.redis?.stop();
    await this.database.drop();
    rmSync(this.assets, { recursive: true, force: true });
    const bad = this.apps.filter((app, index) => exits[index] !== 0 && app.child.signalCode === null);
    if (bad.length > 0)
      throw new Error(
        `${bad.map((app) => app.name).join(', ')} did not exit with 0: ${bad[0]?.logs().slice(-1000)}`,
      );
  }

  env(): Record<string, string> {
    return {
      DATABASE_URL: this.database.url,
      ...(this.redis && { REDIS_URL: this.redis.url }),
      ...(!this.postgresServer && patience),
      SIGNING_SECRET: secret,
      JWT_SECRET: secret,
      ...Object.fromEntries(
        providerList.flatMap(({ name }) => {
          const stem = `PROVIDER_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
          return [
            [`${stem}_BASE_URL`, `${this.simulator.url}/${name}`],
            [`${stem}_KEY`, this.partnerKeys[name] ?? `partner-key-${name}`],
          ];
        }),
      ),
      ASSET_ALLOWED_ORIGINS: this.simulator.assetUrl ?? '',
      ASSET_DIR: this.assets,
      ASSET_BASE_URL: `http://127.0.0.1:${this.firstPort}`,
      ...this.extraEnv,
    };
  }
}
