import { AccountModule } from './account/account.module.js';
import { CompatModule } from './compat/compat.module.js';
import { compatSettings } from './compat/settings.js';
import { ConsoleModule } from './console/console.module.js';
import { FilesModule } from './files/files.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import { nodeSettings } from './nodes/settings.js';
import { OperatorModule } from './operator/operator.module.js';
import { ReferenceModule } from './reference/reference.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** Each surface is one folder, which is imported here only: without it and its lines here the gateway works as before. */
export const surfaces = [
  McpModule,
  FilesModule,
  AccountModule,
  WebhooksModule,
  OperatorModule,
  NodesModule,
  CompatModule,
  ReferenceModule,
  ConsoleModule,
];

export const surfaceSettings = {
  ...compatSettings,
  ...nodeSettings,
};
