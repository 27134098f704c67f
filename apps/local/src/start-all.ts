import { rmSync } from 'node:fs';
import { AdminProgram, type RunAdmin } from './admin.js';
import { startGatewayAndWorker, startSimulator } from './apps.js';
import { demoRegistry } from './demo/demo-registry.js';
import { accepts, type Demo, demoWorkspace, makeDemo, signInLink } from './demo/demo-workspace.js';
import { appEnvironment, writeAdminEnvironment } from './environment.js';
import { writeJsonFile } from './json-file.js';
import { type LocalContext, openLocalContext, type StartOptions } from './local-context.js';
import { assertReachable, filesSummary, startDatabase, startTransport } from './services.js';
import type { LocalSettings } from './settings.js';
import { StartFailure } from './start-failure.js';

interface Installation {
  baseUrl: string;
  /** Opens the console, signed in to the demo workspace; good once. */
  consoleUrl: string;
  demo: Demo;
  adminEnvFile: string;
  /** Rejects when a part has ended by itself; says which. */
  broken: Promise<never>;
}

/** Starts all parts in order; what it has started is in `cleanup` even when it throws. */
export async function startAll(options: StartOptions): Promise<Installation> {
  const { settings, cleanup } = options;
  const context = await openLocalContext(options);
  const { folder } = context;
  const step = stepsOf(options);
  await assertReachable(settings);
  const baseUrl = localUrl(settings);
  // Every part begins as soon as what it needs is there, and is shown in this order.
  const simulating = begun(() => startSimulator(context));
  const program = new AdminProgram(context.env, options.signal);
  cleanup.add(() => program.close());

  const database = await step(
    'postgres',
    begun(() => startDatabase(context)),
    ({ summary }) => summary,
  );
  const transport = await step(
    'transport',
    begun(() => startTransport(context)),
    ({ summary }) => summary,
  );
  await step(
    'files',
    begun(async () => filesSummary(context)),
    (found) => found,
  );

  const env = appEnvironment(context, { baseUrl, databaseUrl: database.url, redisUrl: transport.url });
  const admin = program.with(env);
  await step(
    'migrate',
    begun(() => migrateDatabase(admin, context)),
    migrationSummary,
  );
  const finding = begun(() => demoWorkspace(folder.demo, admin));
  const importing = begun(() => demoRegistry(folder.demoRegistry, admin));
  const simulator = await step(
    'simulator',
    simulating,
    ({ addresses }) => `${addresses.api}, assets ${addresses.assets}`,
  );
  const starting = begun(() => startGatewayAndWorker(context, env, simulator.addresses, baseUrl));
  const found = await step(
    'workspace',
    finding,
    ({ demo, kept }) => `${demo.workspace}, its key and token ${kept ? 'kept' : 'made'}`,
  );
  await step('registry', importing, ({ nodes, kept }) => `${nodes} demo nodes ${kept ? 'kept' : 'imported'}`);
  const apps = await step('apps', starting, () => `gateway on ${baseUrl}, worker`);
  const accepted = await accepts(baseUrl, found.demo);
  const demo = accepted ? found.demo : await makeDemo(folder.demo, admin);
  if (!accepted && !(await accepts(baseUrl, demo))) {
    throw new StartFailure('The gateway refuses the demo workspace’s new key');
  }
  const consoleUrl = await signInLink(baseUrl, admin);
  await program.close();

  writeJsonFile(folder.ready, {
    base_url: baseUrl,
    api_key: demo.api_key,
    access_token: demo.access_token,
    database_url: database.url,
    redis_url: transport.url,
    transport: transport.url === null ? 'postgres' : 'redis',
    s3_endpoint: (settings.S3_BUCKET && settings.S3_ENDPOINT) ?? null,
  });
  writeAdminEnvironment(folder.adminEnv, env);
  cleanup.add(() => rmSync(folder.ready, { force: true }));
  const servers = [database.server, transport.server].filter((server) => server !== undefined);
  return {
    baseUrl,
    consoleUrl,
    demo,
    adminEnvFile: folder.adminEnv,
    broken: firstEnd([simulator.app, ...apps, ...servers]),
  };
}

/** Work that goes on beside other work. When that fails nobody may be left to hear of this one's failure. */
function begun<T>(work: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedMs = performance.now();
  const done = work().then((result) => ({ result, tookMs: performance.now() - startedMs }));
  done.catch(() => {});
  return done;
}

/** What the person at the terminal sees of a start: a line for each step, with what it took and what it led to. */
function stepsOf({ signal, show }: StartOptions) {
  return async <T>(
    name: string,
    work: ReturnType<typeof begun<T>>,
    summarize: (result: T) => string,
  ): Promise<T> => {
    signal.throwIfAborted();
    const { result, tookMs } = await work;
    signal.throwIfAborted();
    show(`${name.padEnd(10)} ${(tookMs / 1_000).toFixed(2).padStart(6)} s  ${summarize(result)}\n`);
    return result;
  };
}

/** The database of an installation can be made anew; one that somebody else runs is theirs. */
async function migrateDatabase(admin: RunAdmin, { settings, localDir }: LocalContext) {
  return admin('migrate').catch((error: unknown) => {
    if (settings.DATABASE_URL !== undefined || !/made by another version/.test(String(error))) throw error;
    throw new StartFailure(
      `The data in ${localDir} was made by another version: remove this folder, set LOCAL_DIR to another one, or carry the data over (docs/operations/carry-over.md)`,
      { cause: error },
    );
  });
}

function migrationSummary({ migrations, functions }: Record<string, unknown>): string {
  const count = Array.isArray(migrations) ? migrations.length : 0;
  if (count === 0 && functions !== true) return 'the schema was up to date';
  return functions === true ? `${count} run, functions replaced` : `${count} run`;
}

/** Where the gateway is reached from this machine. */
function localUrl({ PORT, HOST }: LocalSettings): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}

async function firstEnd(parts: readonly { ended: Promise<void>; exitMessage: string }[]): Promise<never> {
  const part = await Promise.race(parts.map((each) => each.ended.then(() => each)));
  throw new StartFailure(part.exitMessage);
}
