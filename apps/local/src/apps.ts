import { existsSync, openSync, readSync, renameSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { appMain } from './checkout.js';
import type { Installation } from './installation.js';
import { type ServerProcess, startServer } from './servers/server-process.js';

interface Simulator {
  api: string;
  assets: string;
  /** A key for each provider. */
  keys: Record<string, string>;
}

/** Starts the simulator, which reports its addresses itself. */
export async function startSimulator(
  installation: Installation,
): Promise<{ app: ServerProcess; simulator: Simulator }> {
  const { ports, folder, env } = installation;
  const listening = /^\{"api".*$/m;
  const simulatorEnv = {
    ...env,
    SIMULATOR_PORT: String(ports.simulator),
    SIMULATOR_ASSET_PORT: String(ports.simulatorAssets),
    // Providers still know the runs that were in flight when the launcher stopped.
    SIMULATOR_LEDGER_FILE: folder.simulatorLedger,
  };
  const app = await startApp('simulator', installation, simulatorEnv, { readyText: listening });
  const addresses = z
    .object({ api: z.string(), assets: z.string() })
    .parse(JSON.parse(listening.exec(app.log())?.[0] ?? ''));
  const reply = await fetch(`${addresses.api}/keys`, { signal: AbortSignal.timeout(10_000) });
  const keys = z.record(z.string(), z.string()).parse(await reply.json());
  return { app, simulator: { ...addresses, keys } };
}

/** Starts both concurrently. Each is ready when its own probe says so. */
export async function startGatewayAndWorker(
  installation: Installation,
  env: NodeJS.ProcessEnv,
  simulator: Simulator,
  baseUrl: string,
): Promise<ServerProcess[]> {
  const { HOST, PORT } = installation.settings;
  const INTERNAL_PORT = String(installation.ports.worker);
  const all = { ...env, ...(await simulatedProviders(installation.env, simulator)) };
  return Promise.all([
    startApp(
      'gateway',
      installation,
      { ...all, HOST, PORT: String(PORT) },
      { isReady: () => answers(`${baseUrl}/health/ready`) },
    ),
    startApp(
      'worker',
      installation,
      {
        ENCRYPTION_KEYS: installation.secrets.encryption.privateKey,
        ...all,
        INTERNAL_HOST: '127.0.0.1',
        INTERNAL_PORT,
      },
      { isReady: () => answers(`http://127.0.0.1:${INTERNAL_PORT}/health/ready`) },
    ),
  ]);
}

const onThisMachine = 'http://127.0.0.1:*,http://localhost:*';

/** The environment of every app. Variables that the user set and that are not empty take precedence. */
export function appEnvironment(
  { env, folder, secrets }: Installation,
  urls: { baseUrl: string; databaseUrl: string; redisUrl: string | null },
): NodeJS.ProcessEnv {
  return {
    PUBLIC_BASE_URL: urls.baseUrl,
    SIGNING_SECRET: secrets.signing,
    JWT_SECRET: secrets.jwt,
    ENCRYPTION_PUBLIC_KEY: secrets.encryption.publicKey,
    ASSET_DIR: folder.assets,
    ASSET_BASE_URL: urls.baseUrl,
    // Users who try webhooks receive them on this machine.
    WEBHOOK_ALLOWED_ORIGINS: onThisMachine,
    // Development servers of web pages use many ports.
    CORS_ALLOWED_ORIGINS: onThisMachine,
    // Ctrl-C waits for no call: both are less than the launcher's own grace period.
    CLOSE_TIMEOUT_MS: '2000',
    WORKER_CLOSE_MS: '2000',
    ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
    DATABASE_URL: urls.databaseUrl,
    ...(urls.redisUrl !== null && { REDIS_URL: urls.redisUrl }),
  };
}

/** Points every provider that the user has not configured to the simulator. */
async function simulatedProviders(
  given: NodeJS.ProcessEnv,
  simulator: Simulator,
): Promise<Record<string, string>> {
  const { providerList } = await import('#providers');
  const providers = providerList.flatMap(({ name }): [string, string][] => {
    const stem = `PROVIDER_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
    if (given[`${stem}_BASE_URL`] || given[`${stem}_KEY`]) return [];
    return [
      [`${stem}_BASE_URL`, `${simulator.api}/${name}`],
      [`${stem}_KEY`, simulator.keys[name] ?? 'local-simulator'],
    ];
  });
  return {
    ...Object.fromEntries(providers),
    SIMULATOR_URL: simulator.api,
    // The simulator's assets are on this machine, to which URLs from providers' replies must not lead by
    // default.
    ASSET_ALLOWED_ORIGINS: given['ASSET_ALLOWED_ORIGINS'] || simulator.assets,
  };
}

/** Starts an app as a child process. Its log goes to a file, and its errors also to the terminal. */
async function startApp(
  name: string,
  { records, folder }: Installation,
  env: NodeJS.ProcessEnv,
  ready: { readyText: RegExp } | { isReady: () => Promise<boolean> },
): Promise<ServerProcess> {
  const logPath = folder.logOf(name);
  if (existsSync(logPath)) renameSync(logPath, `${logPath}.1`);
  const args = [appMain(name)];
  const starting = startServer({
    name,
    command: process.execPath,
    args,
    env,
    logPath,
    records,
    channel: true,
    ...ready,
  });
  showErrors(name, logPath);
  return starting;
}

async function answers(url: string): Promise<boolean> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await reply.body?.cancel();
  return reply.status === 200;
}

/** Follows a log file and shows its errors on the terminal. */
function showErrors(name: string, logPath: string): void {
  const log = openSync(logPath, 'r');
  const chunk = Buffer.alloc(64 * 1024);
  const decoder = new StringDecoder();
  let rest = '';
  setInterval(() => {
    for (let bytes = readSync(log, chunk); bytes > 0; bytes = readSync(log, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, bytes))).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const error = errorIn(line);
        if (error !== undefined) process.stderr.write(`${name}: ${error}\n`);
      }
    }
  }, 200).unref();
}

/** The level number of errors in the JSON log. */
const errorLevel = 50;

/** The text to show on the terminal: an error's message, or a line that is not from the log. */
export function errorIn(line: string): string | undefined {
  try {
    const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown };
    if (typeof level !== 'number' || level < errorLevel) return undefined;
    return typeof msg === 'string' ? msg : line;
  } catch {
    return line.trim() === '' ? undefined : line;
  }
}
