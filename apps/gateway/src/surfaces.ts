import { AccountModule } from './account/account.module.js';
import { ClientsModule } from './clients/clients.module.js';
import { ConsoleModule } from './console/console.module.js';
import { FilesModule } from './files/files.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import { nodeSettings } from './nodes/settings.js';
import { OperatorModule } from './operator/operator.module.js';
import { PeopleModule } from './people/people.module.js';
import { peopleSettings } from './people/settings.js';
import { ProviderKeysModule } from './provider-keys/provider-keys.module.js';
import { ReferenceModule } from './reference/reference.module.js';
import { SharingModule } from './sharing/sharing.module.js';
import { StreamsModule } from './streams/streams.module.js';
import { vendorSettings } from './vendors/settings.js';
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
  PeopleModule,
  NodesModule,
  VendorsModule,
  ReferenceModule,
  ClientsModule,
  ConsoleModule,
  SharingModule,
  StreamsModule,
];

export const surfaceSettings = {
  ...vendorSettings,
  ...nodeSettings,
  ...peopleSettings,
};
