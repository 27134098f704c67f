import { clientSetting } from './client-setting.js';
import { AccountModule } from './account/account.module.js';
import { ClientsModule } from './clients/clients.module.js';
import { CompatModule } from './compat/compat.module.js';
import { compatClients } from './compat/settings.js';
import { ConsoleModule } from './console/console.module.js';
import { FilesModule } from './files/files.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import { nodeSettings } from './nodes/settings.js';
import { OperatorModule } from './operator/operator.module.js';
import { ProviderKeysModule } from './provider-keys/provider-keys.module.js';
import { ReferenceModule } from './reference/reference.module.js';
import { StreamsModule } from './streams/streams.module.js';
import { vendorClients } from './vendors/settings.js';
import { VendorsModule } from './vendors/vendors.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/**
 * Each surface is one folder that only this file imports. The gateway works without it, once its lines here are
 * removed.
 */
export const surfaces = [
  McpModule,
  FilesModule,
  AccountModule,
  ProviderKeysModule,
  WebhooksModule,
  OperatorModule,
  NodesModule,
  CompatModule,
  VendorsModule,
  ReferenceModule,
  ClientsModule,
  ConsoleModule,
  StreamsModule,
];

/** Clients of other services, by their names in `COMPAT_CLIENTS`. */
const clients = {
  ...compatClients,
  ...vendorClients,
};

export const surfaceSettings = {
  COMPAT_CLIENTS: clientSetting(clients),
  ...nodeSettings,
};
