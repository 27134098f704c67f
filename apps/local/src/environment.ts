import { writeFileSync } from 'node:fs';
import { providerList } from '#providers';
import type { LocalContext } from './local-context.js';

/** The environment of every app: what the person set (not to nothing) wins over what the installation brings. */
export function appEnvironment(
  { env, folder, secrets }: LocalContext,
  urls: { baseUrl: string; databaseUrl: string; redisUrl: string | null },
): NodeJS.ProcessEnv {
  return {
    PUBLIC_BASE_URL: urls.baseUrl,
    SIGNING_SECRET: secrets.signing,
    JWT_SECRET: secrets.jwt,
    ASSET_DIR: folder.assets,
    ASSET_BASE_URL: urls.baseUrl,
    // Whoever tries webhooks here receives them on this machine.
    WEBHOOK_ALLOWED_ORIGINS: 'http://127.0.0.1:*,http://localhost:*',
    // Stopping must not take longer than the launcher waits.
    WORKER_CLOSE_MS: '2000',
    ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
    DATABASE_URL: urls.databaseUrl,
    ...(urls.redisUrl !== null && { REDIS_URL: urls.redisUrl }),
  };
}

/** Beside the secrets, for this installation's person alone. */
export function writeAdminEnvironment(file: string, env: NodeJS.ProcessEnv): void {
  const names = ['DATABASE_URL', 'JWT_SECRET', 'CATALOG_DIR'];
  const lines = names.flatMap((name) => (env[name] ? [`${name}='${env[name]}'\n`] : []));
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

export interface SimulatorAddresses {
  api: string;
  assets: string;
  /** A key for each provider. */
  keys: Record<string, string>;
}

/** Sends every provider that the person has not configured to the simulator. */
export function simulatedProviders(
  given: NodeJS.ProcessEnv,
  simulator: SimulatorAddresses,
): Record<string, string> {
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
    // The simulator's assets are on this machine, where no URL out of a provider's reply may lead otherwise.
    ASSET_ALLOWED_ORIGINS: given['ASSET_ALLOWED_ORIGINS'] || simulator.assets,
  };
}
