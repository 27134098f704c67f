import { providerList } from '#providers';
import { newEncryptionKeys } from '#schemas';
import { longTimeouts } from './long-timeouts.js';
import { secret } from './system-side.js';
import type { Addresses } from './spawn-app.js';

/** One pair for all systems of a run of the tests. Gateways ignore the private key, as they read no such setting. */
const encryption = newEncryptionKeys();

interface Parts {
  databaseUrl: string;
  redisUrl: string | undefined;
  simulator: Pick<Addresses, 'url' | 'assetUrl'>;
  /** Keys by provider, for providers that accept only keys they issued. */
  providerKeys: Readonly<Record<string, string>>;
  assets: string;
  /** Address of the gateway that serves the links of copied assets. */
  assetBaseUrl: string;
  /** False for tests that stop the database. */
  longTimeouts: boolean;
}

/** The environment of gateway and worker in one system. */
export function systemEnvironment(parts: Parts): Record<string, string> {
  const { simulator, providerKeys, redisUrl } = parts;
  return {
    DATABASE_URL: parts.databaseUrl,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    ...(parts.longTimeouts && longTimeouts),
    // Tests also stop gateways that hold calls of unending runs.
    CLOSE_TIMEOUT_MS: '20000',
    SIGNING_SECRET: secret,
    JWT_SECRET: secret,
    ENCRYPTION_PUBLIC_KEY: encryption.publicKey,
    ENCRYPTION_KEYS: encryption.privateKey,
    ...Object.fromEntries(
      providerList.flatMap(({ name }) => {
        const stem = `PROVIDER_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
        return [
          [`${stem}_BASE_URL`, `${simulator.url}/${name}`],
          [`${stem}_KEY`, providerKeys[name] ?? `provider-key-${name}`],
        ];
      }),
    ),
    ASSET_ALLOWED_ORIGINS: simulator.assetUrl ?? '',
    WEBHOOK_ALLOWED_ORIGINS: 'http://127.0.0.1:*',
    ASSET_DIR: parts.assets,
    ASSET_BASE_URL: parts.assetBaseUrl,
  };
}
