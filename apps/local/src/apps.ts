import { z } from 'zod';
import { AppProcess } from './app-process.js';
import { simulatedProviders, type SimulatorAddresses } from './environment.js';
import type { LocalContext } from './local-context.js';

const addressesSchema = z.object({ api: z.string(), assets: z.string() });

/** The simulator says itself where it listens. */
export async function startSimulator(
  context: LocalContext,
): Promise<{ app: AppProcess; addresses: SimulatorAddresses }> {
  const { ports, folder, env } = context;
  const app = startApp('simulator', context, {
    ...env,
    SIMULATOR_PORT: String(ports.simulator),
    SIMULATOR_ASSET_PORT: String(ports.simulatorAssets),
    // Runs that were on their way when the launcher stopped find their generations again.
    SIMULATOR_LEDGER_FILE: folder.simulatorLedger,
  });
  context.cleanup.add(() => app.stop());
  let found: z.infer<typeof addressesSchema> | undefined;
  app.onLine((line) => {
    if (line.startsWith('{"api"')) found ??= addressesSchema.parse(JSON.parse(line));
  });
  await app.untilReady(async () => found !== undefined);
  if (found === undefined) throw new Error('The simulator did not say where it is');
  const reply = await fetch(`${found.api}/keys`, { signal: AbortSignal.timeout(10_000) });
  const keys = z.record(z.string(), z.string()).parse(await reply.json());
  return { app, addresses: { ...found, keys } };
}

/** Both at once; each is ready when it says so itself. */
export async function startGatewayAndWorker(
  context: LocalContext,
  env: NodeJS.ProcessEnv,
  simulator: SimulatorAddresses,
  baseUrl: string,
): Promise<AppProcess[]> {
  const { HOST, PORT } = context.settings;
  const INTERNAL_PORT = String(context.ports.worker);
  const all = { ...env, ...simulatedProviders(context.env, simulator) };
  const gateway = startApp('gateway', context, { ...all, HOST, PORT: String(PORT) });
  const worker = startApp('worker', context, { ...all, INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT });
  context.cleanup.add(async () => {
    await Promise.all([gateway.stop(), worker.stop()]);
  });
  await Promise.all([
    gateway.untilReady(() => answers(`${baseUrl}/health/ready`)),
    worker.untilReady(() => answers(`http://127.0.0.1:${INTERNAL_PORT}/health/ready`)),
  ]);
  return [gateway, worker];
}

function startApp(name: string, context: LocalContext, env: NodeJS.ProcessEnv): AppProcess {
  const { records, folder, showError } = context;
  return new AppProcess({ name, env, records, logPath: folder.logOf(name), showError });
}

async function answers(url: string): Promise<boolean> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await reply.body?.cancel();
  return reply.status === 200;
}
