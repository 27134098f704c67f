import type { Log } from '#observability';
import { ApiKeyRepository } from '#persistence';
import { type DynamicModule, Module } from '@nestjs/common';
import { LOG, SETTINGS } from '../resources.js';
import { AccessTokens } from './access-tokens.js';
import { CallerGuard } from './caller.guard.js';
import { Identification } from './identification.js';
import { RemoteKeys } from './remote-keys.js';
import type { AuthSettings } from './settings.js';

@Module({})
export class AuthModule {
  static on(resources: DynamicModule): DynamicModule {
    return {
      module: AuthModule,
      imports: [resources],
      providers: [
        CallerGuard,
        {
          provide: Identification,
          inject: [ApiKeyRepository, SETTINGS, LOG],
          useFactory: (callers: ApiKeyRepository, settings: AuthSettings, log: Log) =>
            new Identification(callers, accessTokens(settings, log), settings),
        },
      ],
      exports: [CallerGuard, Identification],
    };
  }
}

function accessTokens(settings: AuthSettings, log: Log): AccessTokens {
  const { JWT_JWKS_URL: url } = settings;
  return new AccessTokens(settings, url === undefined ? undefined : new RemoteKeys(url, settings, log).find);
}
