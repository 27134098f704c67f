import {
  ApiKeyRepository,
  type Database,
  type KeyKind,
  keyKinds,
  type KeyRow,
  type WorkspaceRepository,
} from '#persistence';
import { callerScopes, type Scope } from '#schemas';
import { Option } from 'commander';
import { actor } from '../actor.js';
import type { Answer, Desk } from '../answer.js';
import { withWorkspaces } from '../open-database.js';
import { keyId, line, scopeList, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';
import { signInCommand } from './sign-in.js';

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
    .description(
      'List API keys, console sessions and the codes of sign-in links by their prefixes, newest first.',
    )
    .option('--workspace <name>', 'of this workspace only')
    .addOption(new Option('--kind <kind>', 'of this kind only').choices(keyKinds))
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 1_000)
    .option('--before <id>', 'only those that were made before this one, for the next page', keyId)
    .action(async (options: ListOptions) => {
      desk.answer(
        await withWorkspaces(desk.env, (workspaces, database) =>
          list(workspaces, new ApiKeyRepository(database), options),
        ),
      );
    });

  key
    .command('revoke')
    .description('Revoke an API key and everything that it made; the gateways refuse them from then on.')
    .argument('<prefix|id>', 'as "key list" shows it')
    .action(async (prefixOrId: string) => {
      desk.answer(await withWorkspaces(desk.env, (_, database) => revoke(database, prefixOrId, desk)));
    });

  key
    .command('revoke-made-by')
    .description('Revoke everything that a person’s access tokens made in a workspace.')
    .argument('<subject>', 'of the access tokens, as "key list" shows it', line)
    .requiredOption('--workspace <name>', 'its name or id')
    .action(async (subject: string, { workspace }: { workspace: string }) => {
      desk.answer(
        await withWorkspaces(desk.env, async (workspaces, database) => {
          const { id, name } = await workspaces.find(workspace);
          await desk.confirm(`This revokes everything that tokens of ${subject} made in ${name}.`);
          const keys = new ApiKeyRepository(database);
          const { ended } = await keys.revokeMadeBySubject(id, subject, actor());
          return { document: { subject, workspace: name, ended }, text: `revoked ${ended} keys` };
        }),
      );
    });

  signInCommand(key, desk);

  key
    .command('rotate')
    .description(
      'Make a key like another one, which goes on working for a time. If that one was to expire, so will the new one. What the old one made belongs to the new one: a key that leaked is revoked, not rotated.',
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
  const keys = new ApiKeyRepository(database);
  const { key, row } = await keys.create(workspace.id, { name, scopes, expiresAt }, { actor: actor() });
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

interface ListOptions {
  workspace?: string;
  kind?: KeyKind;
  limit: number;
  before?: string;
}

async function list(
  workspaces: WorkspaceRepository,
  keys: ApiKeyRepository,
  { workspace, kind, limit, before }: ListOptions,
): Promise<Answer> {
  const workspaceId = workspace === undefined ? undefined : (await workspaces.find(workspace)).id;
  const found = await keys.list({ workspaceId, kind }, { after: before, limit: limit + 1 });
  const listed = found.slice(0, limit);
  const next = found.length > limit ? listed.at(-1)?.id : undefined;
  const names = new Map((await workspaces.list()).map(({ id, name }) => [id, name]));
  const nameOf = (key: KeyRow): string => names.get(key.workspaceId) ?? key.workspaceId;
  const rows = table([
    ['PREFIX', 'WORKSPACE', 'KIND', 'NAME', 'SCOPES', 'STATE', 'EXPIRES', 'ID', 'MADE BY'],
    ...listed.map((key) => [
      key.prefix,
      nameOf(key),
      key.kind,
      key.name,
      key.scopes.join(','),
      key.state,
      key.expiresAt?.toISOString() ?? 'never',
      key.id,
      key.madeBy ?? (key.madeBySubject === null ? '-' : `token:${key.madeBySubject}`),
    ]),
  ]);
  return {
    document: {
      keys: listed.map((key) => keyDocument(key, nameOf(key))),
      ...(next !== undefined && { next_before: next }),
    },
    text: next === undefined ? rows : `${rows}\nThere are more: repeat it with --before ${next}`,
  };
}

const keyDocument = (key: KeyRow, workspace: string) => ({
  id: key.id,
  kind: key.kind,
  prefix: key.prefix,
  workspace,
  name: key.name,
  scopes: key.scopes,
  state: key.state,
  made_by: key.madeBy,
  made_by_subject: key.madeBySubject,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

/** One that works; of others, those that are near are named. */
async function liveKey(keys: ApiKeyRepository, prefixOrId: string): Promise<KeyRow> {
  const found = await keys.find(prefixOrId);
  if (found?.state === 'live') return found;
  const newest = await keys.list({}, { limit: 1_000 });
  throw unknownName(
    'live key',
    prefixOrId,
    newest.filter(({ state }) => state === 'live').map(({ prefix }) => prefix),
  );
}

async function revoke(database: Database, prefixOrId: string, desk: Desk): Promise<Answer> {
  const keys = new ApiKeyRepository(database);
  const { id, prefix, name, kind } = await liveKey(keys, prefixOrId);
  await desk.confirm(`This revokes the ${kind} ${prefix} (${name}) and everything that it made.`);
  const ended = (await keys.revoke(id, actor()))?.ended ?? 0;
  const below = ended > 1 ? `, and ${ended - 1} that it made` : '';
  return { document: { revoked: prefixOrId, ended }, text: `revoked ${prefixOrId}${below}` };
}

async function rotate(
  workspaces: WorkspaceRepository,
  database: Database,
  prefixOrId: string,
  keepHours: number,
  desk: Desk,
): Promise<Answer> {
  const keys = new ApiKeyRepository(database);
  const old = await liveKey(keys, prefixOrId);
  const workspace = await workspaces.find(old.workspaceId);
  if (keepHours === 0) await desk.confirm(`This revokes the key ${old.prefix} (${old.name}).`);
  const rotated = await keys.rotate(old.id, keepHours * 3600, actor());
  if (rotated === null) throw new Error(`${old.prefix} is a ${old.kind}: only keys are rotated.`);
  const { key, row, oldEndsAt: endsAt } = rotated;
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
