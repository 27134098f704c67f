import {
  ApiKeyRepository,
  type Database,
  OutboxRepository,
  type WorkspaceLimits,
  WorkspaceRepository,
} from '#persistence';
import type { Scope } from '#schemas';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Pool, type QueryResultRow } from 'pg';
import type { WorkspaceSettings } from '../../libs/persistence/src/workspace.repository.js';
import { Caller } from './caller.js';
import { ProviderSide } from './provider-side.js';
import { harnessDatabase } from './long-timeouts.js';
import type { RunningApp } from './spawn-app.js';
import { waitFor } from './wait-for.js';

export type TestCaller = Caller & { workspaceId: string; workspace: string };

/** A running system as tests use it, whichever way it was started: as a customer, an operator or a provider. */
export abstract class SystemSide {
  abstract readonly gateways: readonly RunningApp[];
  abstract readonly workers: readonly RunningApp[];
  /** Every app that was ever started, for the check of their logs. */
  abstract readonly apps: readonly RunningApp[];
  abstract readonly redis: { url: string } | undefined;
  /** For a Redis of several nodes: the ones that accept writes now. */
  readonly redisNodes?: { primariesNow(): Promise<string[]> } | undefined;
  readonly provider: ProviderSide;
  private readonly pool: Pool;
  readonly store: Database;
  /** API keys that tests gave out; none may appear in a log. */
  readonly secrets: string[] = [secret];

  constructor(
    readonly database: { url: string },
    readonly simulator: RunningApp,
    /** The folder of assets and large payloads. */
    readonly assets: string,
  ) {
    this.provider = new ProviderSide(simulator);
    this.pool = new Pool({ connectionString: database.url, max: 3, application_name: 'oracle' });
    // A test may stop the server under an idle connection.
    this.pool.on('error', () => {});
    this.store = harnessDatabase(database.url);
  }

  /** The environment of its apps. */
  abstract env(): Record<string, string>;

  /** Creates a workspace with a key; the caller spreads its calls over all gateways. */
  async caller(
    facts: WorkspaceSettings & WorkspaceLimits & { balanceMicros?: number } = {},
    name = `w-${Math.random().toString(36).slice(2)}`,
    scopes: Scope[] = ['catalog', 'run'],
  ): Promise<TestCaller> {
    const { key, workspaceId } = await this.operate(async (workspaces) => {
      const workspace = await workspaces.create(name, facts);
      const created = await new ApiKeyRepository(this.store).create(
        workspace.id,
        { name: 'test', scopes, expiresAt: null },
        { actor: 'test' },
      );
      return { key: created.key, workspaceId: workspace.id };
    });
    this.secrets.push(key);
    const caller = new Caller(() => this.gateways.map((gateway) => gateway.url), key);
    return Object.assign(caller, { workspaceId, workspace: name });
  }

  /** Waits until every run of the workspace has its outcome. */
  async ended({ workspaceId }: TestCaller, withinMs = 90_000): Promise<void> {
    const live = `SELECT 1 FROM run WHERE workspace_id = $1 AND stage <> 'completed' LIMIT 1`;
    await waitFor(async () => (await this.sql(live, [workspaceId])).length === 0, {
      withinMs,
      what: 'the runs of a workspace to end',
      everyMs: 100,
    });
  }

  async webhookSecrets({ workspace }: TestCaller): Promise<string[]> {
    return (await this.operate((all) => all.find(workspace))).webhookSecrets;
  }

  /** Acts as an operator. */
  async operate<T>(act: (workspaces: WorkspaceRepository) => Promise<T>): Promise<T> {
    return act(new WorkspaceRepository(this.store));
  }

  async sql<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** The stored bytes of an input or an output, wherever they are; undefined if there are none. */
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

  /** Counters that differ from the rows they count. */
  drift(): ReturnType<OutboxRepository['drift']> {
    return new OutboxRepository(this.store).drift();
  }

  protected async closeConnections(): Promise<void> {
    await this.pool.end();
    await this.store.close();
  }
}

export const secret = 'a-secret-of-tests-that-is-long-enough-0';
