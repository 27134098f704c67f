import {
  ApiKeyRepository,
  type Database,
  type KeyRow,
  recordOperatorAction,
  type WorkspaceRepository,
} from '#persistence';
import { callerScopes, type Scope } from '#schemas';
import { actor } from '../actor.js';
import type { Answer, Desk } from '../answer.js';
import { withWorkspaces } from '../open-database.js';
import { line, scopeList, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

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
        await withWorkspaces(desk.env, (workspaces, database) => create(workspaces, database, options)),
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
      desk.answer(await withWorkspaces(desk.env, (_, database) => revoke(database, prefixOrId, desk)));
    });

  key
    .command('rotate')
    .description(
      'Make a key like another one, which goes on working for a time. If that one was to expire, so will the new one.',
    )
    .argument('<prefix|id>', 'as "key list" shows it')
    .option(
      '--keep-hours <n>',
      'how long the old one goes on working; 0 revokes it now',
      wholeNumber(0, 8760),
      24,
    )
    .action(async (prefixOrId: string, { keepHours }: { keepHours: number }) => {
      desk.answer(
        await withWorkspaces(desk.env, (workspaces, database) =>
          rotate(workspaces, database, prefixOrId, keepHours, desk),
        ),
      );
    });
};

async function create(
  workspaces: WorkspaceRepository,
  database: Database,
  options: CreateOptions,
): Promise<Answer> {
  const { name, scopes, expiresDays } = options;
  const workspace = await workspaces.find(options.workspace);
  const expiresAt = expiresDays === undefined ? null : new Date(Date.now() + expiresDays * dayMs);
  const details = { workspace: workspace.name, scopes };
  const { key, row } = await database.atOnce(async (all) => {
    const made = await new ApiKeyRepository(all).create(workspace.id, { name, scopes, expiresAt });
    const action = { actor: actor(), action: 'key.create', subject: made.row.id, details };
    await recordOperatorAction(all, action);
    return made;
  });
  return {
    document: newKeyDocument(key, row, workspace.name),
    text: newKeyLines(key, row, workspace.name).join('\n'),
  };
}

/** That a key ends is said at once: one that replaces another ends with it, and so may one made by a second rotation. */
const newKeyLines = (key: string, { prefix, expiresAt }: KeyRow, workspace: string): string[] => [
  key,
  '',
  `This is the only time the key is shown. Its prefix is ${prefix}, its workspace ${workspace}.`,
  ...(expiresAt === null ? [] : [`It expires at ${expiresAt.toISOString()}.`]),
];

const newKeyDocument = (key: string, row: KeyRow, workspace: string) => ({
  key,
  id: row.id,
  prefix: row.prefix,
  workspace,
  name: row.name,
  scopes: row.scopes,
  expires_at: row.expiresAt?.toISOString() ?? null,
});

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

/** One that works; of others, those that are near are named. */
async function liveKey(keys: ApiKeyRepository, prefixOrId: string): Promise<KeyRow> {
  const live = (await keys.list()).filter(({ state }) => state === 'live');
  const found = live.find(({ id, prefix }) => id === prefixOrId || prefix === prefixOrId);
  if (found) return found;
  throw unknownName(
    'live key',
    prefixOrId,
    live.map(({ prefix }) => prefix),
  );
}

async function revoke(database: Database, prefixOrId: string, desk: Desk): Promise<Answer> {
  const { id, prefix, name } = await liveKey(new ApiKeyRepository(database), prefixOrId);
  await desk.confirm(`This revokes the key ${prefix} (${name}).`);
  await database.atOnce(async (all) => {
    await new ApiKeyRepository(all).revoke(id);
    await recordOperatorAction(all, { actor: actor(), action: 'key.revoke', subject: id });
  });
  return { document: { revoked: prefixOrId }, text: `revoked ${prefixOrId}` };
}

async function rotate(
  workspaces: WorkspaceRepository,
  database: Database,
  prefixOrId: string,
  keepHours: number,
  desk: Desk,
): Promise<Answer> {
  const old = await liveKey(new ApiKeyRepository(database), prefixOrId);
  const workspace = await workspaces.find(old.workspaceId);
  if (keepHours === 0) await desk.confirm(`This revokes the key ${old.prefix} (${old.name}).`);
  const { key, row, endsAt } = await database.atOnce(async (all) => {
    const keys = new ApiKeyRepository(all);
    const made = await keys.create(old.workspaceId, old);
    const action = {
      actor: actor(),
      action: 'key.rotate',
      subject: old.id,
      details: { new_id: made.row.id },
    };
    await recordOperatorAction(all, action);
    return { ...made, endsAt: await keys.end(old.id, keepHours * 3600) };
  });
  return {
    document: {
      ...newKeyDocument(key, row, workspace.name),
      replaces: { ...keyDocument(old, workspace.name), expires_at: endsAt.toISOString() },
    },
    text: [
      ...newKeyLines(key, row, workspace.name),
      `${old.prefix} ${keepHours === 0 ? 'is revoked' : `works until ${endsAt.toISOString()}`}.`,
    ].join('\n'),
  };
}
