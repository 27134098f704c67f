import { auditCommand } from './commands/audit.js';
import { backupCommands } from './commands/backup.js';
import { budgetCommands } from './commands/budget.js';
import { exportCommand, importCommand } from './commands/carry-over.js';
import { catalogCommands } from './commands/catalog.js';
import { creditsCommands } from './commands/credits.js';
import { encryptionKeyCommands } from './commands/encryption-key.js';
import { keyCommands } from './commands/key.js';
import { linkCommand } from './commands/link.js';
import { migrateCommand } from './commands/migrate.js';
import { providerCommands } from './commands/provider.js';
import { registryCommands } from './commands/registry.js';
import { restoreCommands } from './commands/restore.js';
import { runCommands } from './commands/run.js';
import { tokenCommands } from './commands/token.js';
import { usageCommands } from './commands/usage.js';
import { webhookCommands } from './commands/webhook.js';
import { workspaceCommands } from './commands/workspace.js';
import type { CommandGroup } from './program.js';

/** All commands of the program, in the order of its help text. */
export const commandGroups: readonly CommandGroup[] = [
  migrateCommand,
  exportCommand,
  importCommand,
  workspaceCommands,
  keyCommands,
  linkCommand,
  tokenCommands,
  creditsCommands,
  budgetCommands,
  usageCommands,
  runCommands,
  catalogCommands,
  providerCommands,
  encryptionKeyCommands,
  webhookCommands,
  auditCommand,
  registryCommands,
  backupCommands,
  restoreCommands,
];
