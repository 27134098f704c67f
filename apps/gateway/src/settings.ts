import { catalogSettings } from '#catalog';
import { observabilitySettings } from '#observability';
import { databaseSettings, retentionSettings } from '#persistence';
import { queueSettings } from '#queue';
import { encryptionPublicSettings, readSettings, signInLinkSettings, webhookSettings } from '#schemas';
import { signingSettings, storageSettings } from '#storage';
import type { z } from 'zod';
import { authSettings, onlyTokenSecret } from './auth/settings.js';
import { bodySettings } from './bodies/settings.js';
import { httpSettings } from './http/settings.js';
import { heldSettings } from './runs/held/settings.js';
import { surfaceSettings } from './surfaces.js';

/** All settings that a gateway reads from its environment. */
export const gatewaySettings = {
  ...observabilitySettings,
  ...queueSettings,
  ...databaseSettings,
  ...retentionSettings,
  ...storageSettings,
  ...httpSettings,
  ...authSettings,
  ...bodySettings,
  ...catalogSettings,
  ...signingSettings,
  ...heldSettings,
  ...webhookSettings,
  ...signInLinkSettings,
  ...encryptionPublicSettings,
  ...surfaceSettings,
};

export type GatewaySettings = z.infer<z.ZodObject<typeof gatewaySettings>>;

/** Reads the environment. Throws `BadSettings` with all problems, including conflicts between settings. */
export const readGatewaySettings = (env: NodeJS.ProcessEnv): GatewaySettings =>
  readSettings(
    env['JWT_JWKS_URL'] ? gatewaySettings : { ...gatewaySettings, JWT_SECRET: onlyTokenSecret },
    env,
  );
