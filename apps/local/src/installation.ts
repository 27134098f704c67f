import { rmSync } from 'node:fs';
import { Admin } from './admin.js';
import { startGatewayAndWorker, startSimulator } from './apps.js';
import { accepts, keptDemo, makeDemo, type Demo } from './demo.js';
import { keptRegistry } from './demo-registry.js';
import { Guard } from './embedded/guard.js';
import { StartFailure } from './embedded/start-failure.js';
import { appEnvironment, simulatedPartners } from './environment.js';
import { demandPort, localUrl } from './gateway-port.js';
import { becomeInstance } from './instance.js';
import { writeKept } from './kept-file.js';
import { KeptPorts } from './kept-ports.js';
import { prepareFolder } from './local-folder.js';
import type { Plan } from './plan.js';
import { keptSecrets } from './secrets.js';
import { provideDatabase, provideTransport, type Ground, type Service } from './services.js';

interface Installation {
  baseUrl: string;
  demo: Demo;
  readyFile: string;
  /** Rejects when a part has ended by itself; says which. */
  broken: Promise<never>;
}

/** Starts all parts in order; what it has started is in `cleanup` even when it throws. */
export async function raise(plan: Plan): Promise<Installation> {
  const { env, settings, steps, cleanup } = plan;
  const folder = prepareFolder(plan.wantedFolder);
  const instance = await becomeInstance(folder.instance);
  cleanup.add(() => instance.release());
  rmSync(folder.ready, { force: true });
  await demandPort(settings, instance.afterKill);
  const ground = openGround(plan, folder);

  const database = await steps.run('postgres', () => provideDatabase(settings, ground), told);
  const transport = await steps.run(
    'transport',
    () => provideTransport(settings, env['PATH'] ?? '', ground),
    told,
  );
  cleanup.add(async () => {
    await Promise.all([database.server?.stop(), transport.server?.stop()]);
  });
  await steps.run(
    'files',
    async () => settings.S3_BUCKET,
    (bucket) => (bucket === undefined ? folder.assets : `S3 bucket ${bucket}`),
  );

  const baseUrl = localUrl(settings);
  const facts = { baseUrl, databaseUrl: database.url, redisUrl: transport.url };
  const base = appEnvironment(env, facts, folder, ground.secrets);
  const admin = new Admin(base, plan.signal);
  await steps.run('migrate', () => admin.run('migrate'), migrationsTold);
  const found = await steps.run(
    'workspace',
    () => keptDemo(folder.demo, admin),
    ({ demo, kept }) => `${demo.workspace}, its key and token ${kept ? 'kept' : 'made'}`,
  );
  await steps.run(
    'registry',
    () => keptRegistry(folder.demoRegistry, admin),
    ({ nodes, kept }) => `${nodes} demo nodes ${kept ? 'kept' : 'imported'}`,
  );
  const simulator = await steps.run(
    'simulator',
    () => startSimulator(plan, ground, base),
    ({ addresses }) => `${addresses.api}, assets ${addresses.assets}`,
  );
  const apps = await steps.run(
    'apps',
    () =>
      startGatewayAndWorker(
        plan,
        ground,
        { ...base, ...simulatedPartners(env, simulator.addresses) },
        baseUrl,
      ),
    () => `gateway on ${baseUrl}, worker`,
  );
  const accepted = await accepts(baseUrl, found.demo);
  const demo = accepted ? found.demo : await makeDemo(folder.demo, admin);
  if (!accepted && !(await accepts(baseUrl, demo))) {
    throw new StartFailure('The gateway refuses the demo workspace’s new key');
  }

  ground.guard.removeAtEnd(folder.ready);
  writeKept(folder.ready, {
    base_url: baseUrl,
    api_key: demo.api_key,
    access_token: demo.access_token,
    database_url: database.url,
    redis_url: transport.url,
    transport: transport.url === null ? 'postgres' : 'redis',
    s3_endpoint: (settings.S3_BUCKET && settings.S3_ENDPOINT) ?? null,
  });
  cleanup.add(() => rmSync(folder.ready, { force: true }));
  const services = [database, transport].flatMap(({ server }) => (server ? [server] : []));
  const broken = firstEnd([simulator.app, ...apps], services, ground.guard);
  return { baseUrl, demo, readyFile: folder.ready, broken };
}

function openGround({ cleanup, signal }: Plan, folder: Ground['folder']): Ground {
  const secrets = keptSecrets(folder.secrets);
  const ports = new KeptPorts(folder.ports);
  const guard = Guard.open();
  cleanup.add(() => guard.close());
  return { guard, folder, secrets, ports, signal };
}

const told = (service: Service): string => service.told;

function migrationsTold({ migrations }: Record<string, unknown>): string {
  const count = Array.isArray(migrations) ? migrations.length : 0;
  return count === 0 ? 'the schema was up to date' : `${count} run`;
}

async function firstEnd(
  apps: readonly { ended: Promise<void>; epitaph: string }[],
  services: readonly NonNullable<Service['server']>[],
  guard: Guard,
): Promise<never> {
  const line = await Promise.race([
    ...apps.map(async (app) => {
      await app.ended;
      return app.epitaph;
    }),
    ...services.map(async (server) => {
      const { code, signal } = await server.ended;
      return `${server.name} ended (${signal ?? `exit code ${code}`}) (log: ${server.logPath})`;
    }),
    guard.gone.then(() => 'the guard of Postgres and Redis ended'),
  ]);
  throw new StartFailure(line);
}
