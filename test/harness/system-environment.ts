import { providerList } from '#providers';
import { longTimeouts } from './long-timeouts.js';
import { secret } from './system-side.js';
import type { Addresses } from './spawn-app.js';

interface Parts {
  databaseUrl: string;
  redisUrl: string | undefined;
  simulator: Pick<Addresses, 'url' | 'assetUrl'>;
  /** Keys by provider, for those that do not take every text for one. */
  providerKeys: Readonly<Record<string, string>>;
  assets: string;
  /** Of the gateway to which the links of copied assets lead. */
  assetBaseUrl: string;
  /** False where a test takes the database away. */
  longTimeouts: boolean;
}

/** What gateway and worker of one system have in their environment. */
export function systemEnvironment(parts: Parts): Record<string, string> {
  const { simulator, providerKeys, redisUrl } = parts;
  return {
    DATABASE_URL: parts.databaseUrl,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    ...(parts.longTimeouts && longTimeouts),
    SIGNING_SECRET: secret,
    JWT_SECRET: secret,
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
