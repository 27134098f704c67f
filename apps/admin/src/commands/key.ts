import { ApiKeyRepository, type KeyRow, type WorkspaceRepository } from '#persistence';
import { callerScopes, type Scope } from '#schemas';
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
    .option('--scopes <list>', 'what it is good for, comma-separated', scopeList, [...callerScopes])
    .option('--expires-days <n>', 'days until it expires (default: never)', wholeNumber(1, 36_500))
    .action(async (options: CreateOptions) => {
      desk.answer(
        await withWorkspaces(desk.env, (workspaces, database) =>
          create(workspaces, new ApiKeyRepository(database), options),
        ),
      );
    });

  key
    .command('list')
    .description('List API keys by their prefixes.')
    .option('--workspace <name>', 'of this workspace only')
    .action(async ({ workspace }: { workspace?: string }) => {
      desk.answer(
        await withWorkspaces(desk.env, (workspaces, database) =>
          list(workspaces, new ApiKeyRepository(database), workspace),
        ),
      );
    });

  key
    .command('revoke')
    .description('Revoke an API key; the gateways refuse it from then on.')
    .argument('<prefix|id>', 'as "key list" shows it')
    .action(async (prefixOrId: string) => {
      desk.answer(
        await withWorkspaces(desk.env, (_, database) => revoke(new ApiKeyRepository(database), prefixOrId)),
      );
    });
};

async function create(
  workspaces: WorkspaceRepository,
  keys: ApiKeyRepository,
  options: CreateOptions,
): Promise<Answer> {
  const { name, scopes, expiresDays } = options;
  const workspace = await workspaces.find(options.workspace);
  const expiresAt = expiresDays === undefined ? null : new Date(Date.now() + expiresDays * dayMs);
  const { key, row } = await keys.create(workspace.id, { name, scopes, expiresAt });
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

async function list(
  workspaces: WorkspaceRepository,
  keys: ApiKeyRepository,
  workspaceName?: string,
): Promise<Answer> {
  const listed = await keys.list(
    workspaceName === undefined ? undefined : (await workspaces.find(workspaceName)).id,
  );
  const names = new Map((await workspaces.list()).map(({ id, name }) => [id, name]));
  const nameOf = (key: KeyRow): string => names.get(key.workspaceId) ?? key.workspaceId;
  return {
    document: { keys: listed.map((key) => keyDocument(key, nameOf(key))) },
    text: table([
      ['PREFIX', 'WORKSPACE', 'NAME', 'SCOPES', 'STATE', 'EXPIRES'],
      ...listed.map((key) => [
        key.prefix,
        nameOf(key),
        key.name,
        key.scopes.join(','),
        key.state,
        key.expiresAt?.toISOString() ?? 'never',
      ]),
    ]),
  };
}

const keyDocument = (key: KeyRow, workspace: string) => ({
  id: key.id,
  prefix: key.prefix,
  workspace,
  name: key.name,
  scopes: key.scopes,
  state: key.state,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

async function revoke(keys: ApiKeyRepository, prefixOrId: string): Promise<Answer> {
  if (!(await keys.revoke(prefixOrId))?.revoked) throw new Error(`There is no live key "${prefixOrId}".`);
  return { document: { revoked: prefixOrId }, text: `revoked ${prefixOrId}` };
}
