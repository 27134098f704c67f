import type { ApiKey, WorkspaceRepository } from '#persistence';
import { type Scope, scopes } from '#schemas';
import type { Answer } from '../answer.js';
import { withWorkspaces } from '../open-database.js';
import { line, scopeList, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';

const dayMs = 24 * 60 * 60 * 1000;

interface CreateOptions {
  workspace: string;
  name: string;
  scopes: Scope[];
  expiresDays?: number;
}

export const keyCommands: CommandGroup = (program, desk) => {
  const key = program.command('key').description('API keys of workspaces.');

  key
    .command('create')
    .description('Create an API key; its text is shown this once and stored nowhere.')
    .requiredOption('--workspace <name>', 'name or id of its workspace')
    .option('--name <text>', 'what it is for', line, 'key')
    .option('--scopes <list>', 'what it is good for, comma-separated', scopeList, [...scopes])
    .option('--expires-days <n>', 'days until it expires (default: never)', wholeNumber(1, 36_500))
    .action(async (options: CreateOptions) => {
      desk.answer(await withWorkspaces(desk.env, (workspaces) => create(workspaces, options)));
    });

  key
    .command('list')
    .description('List API keys by their prefixes.')
    .option('--workspace <name>', 'of this workspace only')
    .action(async ({ workspace }: { workspace?: string }) => {
      desk.answer(await withWorkspaces(desk.env, (workspaces) => list(workspaces, workspace)));
    });

  key
    .command('revoke')
    .description('Revoke an API key; the gateways refuse it from then on.')
    .argument('<prefix|id>', 'as "key list" shows it')
    .action(async (prefixOrId: string) => {
      desk.answer(await withWorkspaces(desk.env, (workspaces) => revoke(workspaces, prefixOrId)));
    });
};

async function create(workspaces: WorkspaceRepository, options: CreateOptions): Promise<Answer> {
  const { name, scopes, expiresDays } = options;
  const workspace = await workspaces.find(options.workspace);
  const expiresAt = expiresDays === undefined ? null : new Date(Date.now() + expiresDays * dayMs);
  const { key, row } = await workspaces.createKey(workspace.id, { name, scopes, expiresAt });
  return {
    document: {
      key,
      id: row.id,
      prefix: row.prefix,
      workspace: workspace.name,
      name,
      scopes,
      expires_at: expiresAt?.toISOString() ?? null,
    },
    text: [
      key,
      '',
      `This is the only time the key is shown. Its prefix is ${row.prefix}, its workspace ${workspace.name}.`,
    ].join('\n'),
  };
}

async function list(workspaces: WorkspaceRepository, workspaceName?: string): Promise<Answer> {
  const keys = await workspaces.listKeys(workspaceName);
  const names = new Map((await workspaces.list()).map(({ id, name }) => [id, name]));
  const nameOf = (key: ApiKey): string => names.get(key.workspaceId) ?? key.workspaceId;
  const now = new Date();
  return {
    document: { keys: keys.map((key) => keyDocument(key, nameOf(key), now)) },
    text: table([
      ['PREFIX', 'WORKSPACE', 'NAME', 'SCOPES', 'STATE', 'EXPIRES'],
      ...keys.map((key) => [
        key.prefix,
        nameOf(key),
        key.name,
        key.scopes.join(','),
        stateOf(key, now),
        key.expiresAt?.toISOString() ?? 'never',
      ]),
    ]),
  };
}

/** A key as listed. The hash is left out on purpose: nothing that is printed helps to find the key. */
export const keyDocument = (key: ApiKey, workspace: string, now: Date) => ({
  id: key.id,
  prefix: key.prefix,
  workspace,
  name: key.name,
  scopes: key.scopes,
  state: stateOf(key, now),
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

function stateOf(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: Date): 'live' | 'revoked' | 'expired' {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= now ? 'expired' : 'live';
}

async function revoke(workspaces: WorkspaceRepository, prefixOrId: string): Promise<Answer> {
  if (!(await workspaces.revokeKey(prefixOrId))) throw new Error(`There is no live key "${prefixOrId}".`);
  return { document: { revoked: prefixOrId }, text: `revoked ${prefixOrId}` };
}
