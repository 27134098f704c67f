import path from 'node:path';
import { z } from 'zod';
import { AppProcess } from './app-process.js';
import type { SimulatorAddresses } from './environment.js';
import type { Plan } from './plan.js';
import type { Ground } from './services.js';

/** An app that does not end in this time after SIGTERM is killed. */
const graceMs = 4_000;

const addresses = z.object({ api: z.string(), assets: z.string() });

export async function startSimulator(
  plan: Plan,
  ground: Ground,
  base: NodeJS.ProcessEnv,
): Promise<{ app: AppProcess; addresses: SimulatorAddresses }> {
  const app = spawnApp('simulator', plan, ground, {
    ...base,
    SIMULATOR_PORT: String(await ground.ports.free('simulator')),
    SIMULATOR_ASSET_PORT: String(await ground.ports.free('simulator_assets')),
    // Runs that were on their way when the launcher stopped find their generations again.
    SIMULATOR_LEDGER_FILE: ground.folder.simulatorLedger,
  });
  plan.cleanup.add(() => app.stop(graceMs));
  let found: z.infer<typeof addresses> | undefined;
  app.onLine((line) => {
    if (line.startsWith('{"api"')) found ??= addresses.parse(JSON.parse(line));
  });
  await app.untilReady(async () => found !== undefined);
  if (found === undefined) throw new Error('The simulator did not say where it is');
  return { app, addresses: { ...found, keys: await keysOf(found.api) } };
}

async function keysOf(simulator: string): Promise<Record<string, string>> {
  const reply = await fetch(`${simulator}/keys`, { signal: AbortSignal.timeout(10_000) });
  return z.record(z.string(), z.string()).parse(await reply.json());
}

/** Both at once; each is ready when it says so itself. */
export async function startGatewayAndWorker(
  plan: Plan,
  ground: Ground,
  env: NodeJS.ProcessEnv,
  baseUrl: string,
): Promise<AppProcess[]> {
  const { HOST, PORT } = plan.settings;
  const workerPort = await ground.ports.free('worker');
  const gateway = spawnApp('gateway', plan, ground, { ...env, HOST, PORT: String(PORT) });
  const worker = spawnApp('worker', plan, ground, {
    ...env,
    INTERNAL_HOST: '127.0.0.1',
    INTERNAL_PORT: String(workerPort),
  });
  plan.cleanup.add(async () => {
    await Promise.all([gateway.stop(graceMs), worker.stop(graceMs)]);
  });
  await Promise.all([
    gateway.untilReady(() => answers(`${baseUrl}/health/ready`)),
    worker.untilReady(() => answers(`http://127.0.0.1:${workerPort}/health/ready`)),
  ]);
  return [gateway, worker];
}

function spawnApp(name: string, plan: Plan, ground: Ground, env: NodeJS.ProcessEnv): AppProcess {
  return new AppProcess({
    name,
    guard: ground.guard,
    env,
    logPath: path.join(ground.folder.logs, `${name}.log`),
    show: plan.complain,
  });
}

async function answers(url: string): Promise<boolean> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await reply.body?.cancel();
  return reply.status === 200;
}
