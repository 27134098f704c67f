import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Database, Migrated } from '#persistence';
import { BadSettings, readSettings } from '#schemas';
import { appEnvironment, startGatewayAndWorker, startSimulator } from './apps.js';
import { demoNodes } from './demo-nodes.js';
import { type Installation, openInstallation } from './installation.js';
import { writeJsonFile } from './json-file.js';
import { assertReachable, filesSummary, startDatabase, startTransport } from './services.js';
import { localSettings, type LocalSettings } from './settings.js';
import { StartFailure } from './start-failure.js';
import { summary } from './summary.js';

/**
 * `npm start`: runs everything that the service needs on this machine until Ctrl-C. Resolves with the exit
 * code: 0 if it was told to stop, 1 if it could not start or a part of it ended unexpectedly.
 */
export async function launch(env: NodeJS.ProcessEnv): Promise<number> {
  // If the terminal is closed, the launcher must still stop the rest before it exits.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const stopping = new AbortController();
  onRequestToStop(env, () => stopping.abort());
  try {
    const installation = await openInstallation(env, readSettings(localSettings, env));
    const serving = serve(installation, stopping.signal);
    try {
      await Promise.race([serving, stopping.signal.aborted || once(stopping.signal, 'abort')]);
      return 0;
    } finally {
      await installation.close(serving);
    }
  } catch (error) {
    process.stderr.write(`model-router: ${oneLine(error)}\n`);
    return 1;
  }
}

/** Starts all parts in order. Rejects if one cannot be started or ends unexpectedly. */
async function serve(installation: Installation, signal: AbortSignal): Promise<never> {
  const { settings, folder } = installation;
  await assertReachable(settings);
  const baseUrl = localUrl(settings);
  // Every part starts as soon as its dependencies are ready. The lines are printed in this order.
  const simulating = timed(() => startSimulator(installation));
  const starting = timed(() => startDatabase(installation));
  // Loading this and the database library takes longer than the start of the servers, so it begins now.
  import('./demo.js').catch(() => {});
  const { url: databaseUrl, ...database } = await step('postgres', starting, (found) => found.summary);
  const transport = await step(
    'transport',
    timed(() => startTransport(installation)),
    (found) => found.summary,
  );
  await step(
    'files',
    timed(async () => filesSummary(installation)),
    (found) => found,
  );
  const env = appEnvironment(installation, { baseUrl, databaseUrl, redisUrl: transport.url });
  const { Database, databaseSettings, migrate } = await import('#persistence');
  const { accepts, DemoData } = await import('./demo.js');
  const store = Database.createForOperator(readSettings(databaseSettings, env));
  await step(
    'migrate',
    timed(() => migrateDatabase(migrate, store, installation)),
    migrationSummary,
  );
  const data = new DemoData(store, folder.demo, env);
  const finding = timed(() => data.credentials());
  const { app: simulatorApp, simulator } = await step(
    'simulator',
    simulating,
    (found) => `${found.simulator.api}, assets ${found.simulator.assets}`,
  );
  const opening = timed(() => startGatewayAndWorker(installation, env, simulator, baseUrl));
  const found = await step('workspace', finding, ({ demo: { workspace }, kept }) =>
    kept
      ? `${workspace}, its key and token kept, demo nodes kept`
      : `${workspace}, its key and token created, ${demoNodes().length} demo nodes`,
  );
  const apps = await step('apps', opening, () => `gateway on ${baseUrl}, worker`);
  const accepted = await accepts(baseUrl, found.demo);
  const demo = accepted ? found.demo : await data.make();
  if (!accepted && !(await accepts(baseUrl, demo)))
    throw new StartFailure(
      'The gateway rejects the new key of the demo workspace. See the logs of the gateway.',
    );
  const consoleUrl = await data.signInLink(baseUrl);
  await store.close();
  const { api_key: apiKey, access_token: accessToken } = demo;
  writeJsonFile(folder.ready, {
    base_url: baseUrl,
    api_key: apiKey,
    access_token: accessToken,
    database_url: databaseUrl,
    redis_url: transport.url,
    transport: transport.url === null ? 'postgres' : 'redis',
    s3_endpoint: (settings.S3_BUCKET && settings.S3_ENDPOINT) ?? null,
  });
  writeAdminEnvironment(folder.adminEnv, env);
  process.stdout.write(summary({ baseUrl, consoleUrl, apiKey, accessToken, adminEnvFile: folder.adminEnv }));
  const parts = [simulatorApp, ...apps, database.server, transport.server];
  const running = parts.filter((part) => part !== undefined);
  const first = await Promise.race(running.map((part) => part.ended.then(() => part)));
  throw new StartFailure(first.exitMessage);

  /** Prints a line with the name, duration and result of the step. */
  async function step<T>(
    name: string,
    work: Promise<{ result: T; tookMs: number }>,
    summarize: (result: T) => string,
  ): Promise<T> {
    const { result, tookMs } = await work;
    signal.throwIfAborted();
    process.stdout.write(
      `${name.padEnd(10)} ${(tookMs / 1_000).toFixed(2).padStart(6)} s  ${summarize(result)}\n`,
    );
    return result;
  }
}

/** Starts and times work. If other work fails first, its own failure must not crash the process. */
function timed<T>(work: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedMs = performance.now();
  const done = work().then((result) => ({ result, tookMs: performance.now() - startedMs }));
  done.catch(() => {});
  return done;
}

/** Migrates the database. The error for incompatible data of the installation itself says how to proceed. */
async function migrateDatabase(
  migrate: typeof import('#persistence').migrate,
  store: Database,
  { settings, folder }: Installation,
): Promise<Migrated> {
  return migrate(await store.dataSource()).catch((error: unknown) => {
    if (settings.DATABASE_URL !== undefined || !/made by another version/.test(String(error))) throw error;
    throw new StartFailure(
      `The data in ${folder.root} was made by another version. Remove this folder, set LOCAL_DIR to another one, or carry the data over (docs/operations/carry-over.md).`,
      { cause: error },
    );
  });
}

function migrationSummary({ migrations: { length }, functions }: Migrated): string {
  if (length === 0 && !functions) return 'the schema was up to date';
  return functions ? `${length} run, functions replaced` : `${length} run`;
}

/** Writes the settings for operator commands. The file contains secrets, so only its owner can read it. */
function writeAdminEnvironment(file: string, env: NodeJS.ProcessEnv): void {
  const names = ['DATABASE_URL', 'JWT_SECRET', 'CATALOG_DIR'];
  const lines = names.flatMap((name) => (env[name] ? [`${name}='${env[name]}'\n`] : []));
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

/** The gateway's URL from this machine. */
function localUrl({ PORT, HOST }: LocalSettings): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}

function oneLine(error: unknown): string {
  if (error instanceof BadSettings) return `bad settings: ${error.problems.join('; ')}`;
  if (!(error instanceof Error)) return String(error);
  return (error.message || error.name).replaceAll('\n', ' ');
}

/**
 * Calls `stop` on Ctrl-C, on SIGTERM, when the terminal is closed, and when npm has died without forwarding
 * its signal. A launcher that was started without npm may outlive its parent, for example as a background
 * job.
 */
function onRequestToStop(env: NodeJS.ProcessEnv, stop: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  if (env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, 500).unref();
}
