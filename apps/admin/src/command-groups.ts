import type { CommandGroup } from './program.js';

/** All commands of the program, in the order of its help text. */
export const commandGroups: readonly CommandGroup[] = [
  {
    name: 'migrate',
    description: 'Bring the database schema up to date. Safe to run from several places at once.',
    load: async () => (await import('./commands/migrate.js')).migrateCommand,
  },
  {
    name: 'export',
    description:
      'Write the database as lines of JSON, for "import" into a new database. This also works for a database of another version, which "migrate" rejects. The export contains workspaces, keys, credits, the ledger, usage, operators’ actions, pauses of providers and the node registry. It does not contain runs, their inputs and results, callers’ files, idempotency keys or webhooks. It includes the hashes of keys and the secrets of webhooks.',
    load: async () => (await import('./commands/carry-over.js')).exportCommand,
  },
  {
    name: 'import',
    description:
      'Fill a new database, in which only "migrate" has run, from an export. Everything is imported in one transaction, which is committed only if row counts and sums match.',
    load: async () => (await import('./commands/carry-over.js')).importCommand,
  },
  {
    name: 'workspace',
    description: 'Workspaces, their permissions and their limits.',
    load: async () => (await import('./commands/workspace.js')).workspaceCommands,
  },
  {
    name: 'key',
    description: 'API keys of workspaces.',
    load: async () => (await import('./commands/key.js')).keyCommands,
  },
  {
    name: 'link',
    description:
      'Create a link that signs a customer in to the console. It works once, for SIGN_IN_LINK_HOURS, and opening it does not use it up. With --create, also create the workspace and its first key.',
    load: async () => (await import('./commands/link.js')).linkCommand,
  },
  {
    name: 'token',
    description: 'Access tokens for the /v1 routes.',
    load: async () => (await import('./commands/token.js')).tokenCommands,
  },
  {
    name: 'credits',
    description: 'Credits and ledgers of workspaces.',
    load: async () => (await import('./commands/credits.js')).creditsCommands,
  },
  {
    name: 'budget',
    description: 'Budgets of workspaces.',
    load: async () => (await import('./commands/budget.js')).budgetCommands,
  },
  {
    name: 'usage',
    description: 'Usage and costs, from the audit records.',
    load: async () => (await import('./commands/usage.js')).usageCommands,
  },
  {
    name: 'run',
    description: 'Runs of all workspaces: list, show and cancel them, and redeliver their webhooks.',
    load: async () => (await import('./commands/run.js')).runCommands,
  },
  {
    name: 'catalog',
    description: 'The model catalog.',
    load: async () => (await import('./commands/catalog.js')).catalogCommands,
  },
  {
    name: 'provider',
    description: 'Providers: list, show, check, pause and resume them.',
    load: async () => (await import('./commands/provider.js')).providerCommands,
  },
  {
    name: 'encryption-key',
    description: 'Keys that encrypt the provider keys of workspaces; see docs/operations/keys.md.',
    load: async () => (await import('./commands/encryption-key.js')).encryptionKeyCommands,
  },
  {
    name: 'webhook',
    description: 'Webhooks, which notify callers of completed runs.',
    load: async () => (await import('./commands/webhook.js')).webhookCommands,
  },
  {
    name: 'audit',
    description:
      'List the actions of operators, and all keys and sign-in links that were made, used, rotated or revoked, newest first.',
    load: async () => (await import('./commands/audit.js')).auditCommand,
  },
  {
    name: 'registry',
    description: 'The node registry, as listed by GET /nodes.',
    load: async () => (await import('./commands/registry.js')).registryCommands,
  },
  {
    name: 'backup',
    description: 'What is known of the backups of the database; see docs/operations/backup.md.',
    load: async () => (await import('./commands/backup.js')).backupCommands,
  },
  {
    name: 'restore',
    description: 'Steps after restoring the database from a backup; see docs/operations/backup.md.',
    load: async () => (await import('./commands/restore.js')).restoreCommands,
  },
];
