import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { type Log, LOG, reasonOf } from '#observability';
import { credentialChannel, type DatabaseSettings, overshootNews, processName } from '#persistence';
import { PostgresListener } from '#queue';
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { AccessTokens } from './access-tokens.js';
import { CodeExchange } from './code-exchange.js';
import { DatabaseNews } from './database-news.js';
import { Identification } from './identification.js';
import { KeyUses } from './key-uses.js';
import { RemoteKeys } from './remote-keys.js';
import type { AuthSettings } from './settings.js';

@Module({
  imports: [InfrastructureModule],
  providers: [
    Identification,
    CodeExchange,
    KeyUses,
    DatabaseNews,
    {
      provide: PostgresListener,
      inject: [Identification, DatabaseNews, SETTINGS, LOG],
      useFactory: listenForChanges,
    },
    {
      provide: AccessTokens,
      inject: [SETTINGS, LOG],
      useFactory: (settings: AuthSettings, log: Log) =>
        new AccessTokens(
          settings,
          settings.JWT_JWKS_URL === undefined
            ? undefined
            : new RemoteKeys(settings.JWT_JWKS_URL, settings, log).find,
        ),
    },
  ],
  exports: [Identification, CodeExchange, DatabaseNews],
})
export class AuthModule implements OnApplicationShutdown {
  constructor(private readonly changes: PostgresListener) {}

  async onApplicationShutdown(): Promise<void> {
    await this.changes.close();
  }
}

/**
 * Listens to Postgres for revoked keys and lifted bounds, even where Redis carries the runs, because the admin commands only
 * reach the database.
 */
function listenForChanges(
  identification: Identification,
  news: DatabaseNews,
  settings: DatabaseSettings,
  log: Log,
): PostgresListener {
  let isLost = false;
  return new PostgresListener({
    url: settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL,
    channel: credentialChannel,
    name: processName,
    heard: (payload) => {
      if (payload === overshootNews) news.tellOvershoot();
      else identification.forget(payload);
    },
    connected: () => {
      isLost = false;
      identification.forget();
      news.tellOvershoot();
    },
    lost: (error) => {
      if (!isLost)
        log.warn(
          { reason: reasonOf(error) },
          'key revocation listener is down; revoked keys work until their cache entries expire',
        );
      isLost = true;
    },
  });
}
