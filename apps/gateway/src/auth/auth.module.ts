import { type Log, LOG } from '#observability';
import { ApiKeyRepository } from '#persistence';
import { Module } from '@nestjs/common';
import { InfrastructureModule } from '../infrastructure.module.js';
import { SETTINGS } from '../settings.module.js';
import { AccessTokens } from './access-tokens.js';
import { CallerGuard } from './caller.guard.js';
import { Identification } from './identification.js';
import { RemoteKeys } from './remote-keys.js';
import type { AuthSettings } from './settings.js';

@Module({
  imports: [InfrastructureModule],
  providers: [
    CallerGuard,
    {
      provide: Identification,
      inject: [ApiKeyRepository, AccessTokens, SETTINGS],
      useFactory: (keys: ApiKeyRepository, tokens: AccessTokens, settings: AuthSettings) =>
        new Identification(keys, tokens, settings),
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
  exports: [CallerGuard, Identification],
})
export class AuthModule {}
