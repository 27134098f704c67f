import { Client } from 'pg';
import { type App, System } from '../../harness/faults.js';
import {
  type Answer,
  Caller,
  createDatabase,
  longTimeouts,
  type TransportKind,
} from '../../harness/index.js';
import type { TestCaller } from '../../harness/system-side.js';
import type { Release } from './release.js';

export const startMicros = 1_000_000_000_000;
/** For processes that start under load. */
const longStart = { readyWithinMs: 150_000 };

/** A system whose database was made by the previous release; it has no apps yet. */
export async function systemOf(previous: Release, transport: TransportKind): Promise<System> {
  const database = await createDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
  await previous.admin(operatorEnv(database), 'migrate');
  return System.start({ transport, database, gateways: 0, workers: 0, env: longTimeouts });
}

const operatorEnv = ({ url }: { url: string }): Record<string, string> => ({
  DATABASE_URL: url,
  ...longTimeouts,
});

export const migrateBy = (
  release: Release,
  { database }: System,
): Promise<{ migrations: string[]; functions: boolean }> => release.admin(operatorEnv(database), 'migrate');

/** A gateway and a worker of a release. */
export async function startApps(system: System, { folder }: Release): Promise<App[]> {
  const options = { ...longStart, checkout: folder };
  return Promise.all([system.startGateway({}, options), system.startWorker({}, options)]);
}

/**
 * A workspace and its caller, created by the commands of the release that made the database, because this
 * release's repositories may use other columns. `tell` gets each answer that is a failure of the service.
 */
export async function newCaller(
  system: System,
  previous: Release,
  inflight: number,
  tell: (answer: Answer) => void = () => {},
): Promise<TestCaller> {
  const env = operatorEnv(system.database);
  const workspace = `inflight-${inflight}`;
  const limits = [
    ['--inflight', inflight],
    ['--backlog', 1_000_000],
    ['--window', 1_000_000],
    ['--committed-cents', startMicros / 10_000],
    ['--credits-cents', startMicros / 10_000],
  ];
  const words = ['workspace', 'create', workspace, ...limits.flat().map(String)];
  const { id } = await previous.admin<{ id: string }>(env, ...words);
  const { key } = await previous.admin<{ key: string }>(env, 'key', 'create', '--workspace', workspace);
  system.secrets.push(key);
  const caller = new WatchedCaller(() => system.gateways.map(({ url }) => url), key, tell);
  return Object.assign(caller, { workspaceId: id, workspace });
}

class WatchedCaller extends Caller {
  constructor(
    baseUrls: () => string[],
    key: string,
    private readonly tell: (answer: Answer) => void,
  ) {
    super(baseUrls, key);
  }

  override async call(...words: Parameters<Caller['call']>): Promise<Answer> {
    const answer = await super.call(...words);
    if (answer.status >= 500) this.tell(answer);
    return answer;
  }
}
