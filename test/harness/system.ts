import { rmSync } from 'node:fs';
import { createDatabase, type TestDatabase } from './database.js';
import { startDatabaseServer } from './own-postgres.js';
import { temporaryFolder } from './running.js';
import { startRedis, type TestServer } from './servers.js';
import { type App, spawnApp, type SpawnOptions } from './spawn-app.js';
import { freePort } from './ports.js';
import { systemEnvironment } from './system-environment.js';
import { SystemSide } from './system-side.js';
import type { TransportKind } from './transports.js';

interface SystemOptions {
  transport: TransportKind;
  gateways?: number;
  workers?: number;
  /** How long a simulated run takes. */
  takesMs?: number;
  /** A separate Postgres to kill and freeze; by default the system uses a database on the shared one. */
  ownPostgres?: boolean;
  /** A database to use instead, which the test may stop. */
  database?: TestDatabase;
  /** Uses keys that the simulated providers issued, for providers that accept no others. */
  issuedKeys?: true;
  /** Existing Redis nodes, instead of the single Redis that `transport` starts. */
  redisNodes?: RedisNodes;
  /** Environment of both apps. */
  env?: Record<string, string>;
}

interface RedisNodes {
  url: string;
  primariesNow(): Promise<string[]>;
}

/** Until the first gateway runs, no link to an asset is created. */
const nowhere = 'http://assets.test';

/** The whole service as real processes on a separate database and transport. */
export class System extends SystemSide {
  readonly gateways: App[] = [];
  readonly workers: App[] = [];
  readonly apps: App[] = [];
  private providerKeys: Record<string, string> = {};
  private assetBaseUrl = nowhere;

  private constructor(
    override readonly database: TestDatabase,
    readonly redis: TestServer | undefined,
    override readonly simulator: App,
    private readonly postgresServer: TestServer | undefined,
    /** True if no test stops the database. */
    private readonly longTimeouts: boolean,
    override readonly redisNodes: RedisNodes | undefined,
    private readonly extraEnv: Record<string, string>,
  ) {
    super(database, simulator, temporaryFolder('assets'));
  }

  static async start(options: SystemOptions): Promise<System> {
    const [{ database, server }, redis, simulator] = await Promise.all([
      options.ownPostgres
        ? startDatabaseServer()
        : { database: options.database ?? (await createDatabase()), server: undefined },
      options.transport === 'redis' && !options.redisNodes ? startRedis() : undefined,
      spawnApp('simulator', { SIMULATOR_DEFAULT_MS: String(options.takesMs ?? 300) }),
    ]);
    await simulator.ready;
    const longTimeouts = !options.ownPostgres && !options.database;
    const system = new System(
      database,
      redis,
      simulator,
      server,
      longTimeouts,
      options.redisNodes,
      options.env ?? {},
    );
    if (options.issuedKeys) system.providerKeys = await system.provider.keys();
    // Links to files use the address of the first gateway, so its port must be known before any app starts.
    const { gateways = 1, workers = 1 } = options;
    const port = await freePort();
    if (gateways > 0) {
      system.assetBaseUrl = `http://127.0.0.1:${port}`;
      await system.startGateway({}, { port });
    }
    await Promise.all([
      ...Array.from({ length: gateways - 1 }, () => system.startGateway()),
      ...Array.from({ length: workers }, () => system.startWorker()),
    ]);
    return system;
  }

  /** The system's own Postgres. */
  get postgres(): TestServer {
    if (!this.postgresServer) throw new Error('Start this system with `ownPostgres`');
    return this.postgresServer;
  }

  async startGateway(env: Record<string, string> = {}, options?: SpawnOptions): Promise<App> {
    const app = await spawnApp('gateway', { ...this.env(), ...env }, options);
    this.apps.push(app);
    await app.ready;
    // From now on callers use it.
    this.gateways.push(app);
    return app;
  }

  async startWorker(env: Record<string, string> = {}, options?: SpawnOptions): Promise<App> {
    const app = await this.spawnWorker(env, options);
    await app.ready;
    return app;
  }

  /** For a worker that may exit before it becomes ready. */
  async spawnWorker(env: Record<string, string> = {}, options?: SpawnOptions): Promise<App> {
    const app = await spawnApp('worker', { ...this.env(), ...env }, options);
    this.workers.push(app);
    this.apps.push(app);
    return app;
  }

  /** `kill -9`; the app no longer counts among the gateways or workers. */
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

  async stop(): Promise<void> {
    const exits = await Promise.all(this.apps.map((app) => app.stop()));
    await this.simulator.stop();
    await this.closeConnections();
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
      ...systemEnvironment({
        databaseUrl: this.database.url,
        redisUrl: this.redisNodes?.url ?? this.redis?.url,
        simulator: this.simulator,
        providerKeys: this.providerKeys,
        assets: this.assets,
        assetBaseUrl: this.assetBaseUrl,
        longTimeouts: this.longTimeouts,
      }),
      ...this.extraEnv,
    };
  }
}
