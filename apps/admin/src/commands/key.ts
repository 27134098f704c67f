import { type KeyKind, keyKinds, type KeyRow, keyView } from '#persistence';
import { callerScopes, type RouterKey, type Scope, sessionScopes } from '#schemas';
import { type Command, Option } from 'commander';
import { actor } from '../actor.js';
import type { Answer, Desk } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { httpUrl, keyId, line, scopeList, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

const dayMs = 24 * 60 * 60 * 1000;

export const keyCommands: CommandGroup = (program, desk) => {
  const key = program.command('key').description('API keys of workspaces.');

  key
    .command('create')
    .description('Create an API key; its text is shown this once and stored nowhere.')
    .requiredOption('--workspace <name>', 'name or id of its workspace')
    .option('--name <text>', 'what it is for', line, 'key')
    .option('--scopes <list>', 'what it is good for, comma-separated', scopeList, [...callerScopes])
    .option('--expires-days <n>', 'days until it expires (default: never)', wholeNumber(1, 36_500))
    .action(answering(desk, create));

  key
    .command('list')
    .description(
      'List API keys, console sessions and the codes of sign-in links by their prefixes, newest first.',
    )
    .option('--workspace <name>', 'of this workspace only')
    .addOption(new Option('--kind <kind>', 'of this kind only').choices(keyKinds))
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 1_000)
    .option('--before <id>', 'only those that were made before this one, for the next page', keyId)
    .action(answering(desk, list));

  key
    .command('revoke')
    .description('Revoke an API key and everything that it made; the gateways refuse them from then on.')
    .argument('<prefix|id>', 'as "key list" shows it')
    .action(answering(desk, (services, prefixOrId: string) => revoke(services, prefixOrId, desk)));

  key
    .command('revoke-made-by')
    .description('Revoke everything that a person’s access tokens made in a workspace.')
    .argument('<subject>', 'of the access tokens, as "key list" shows it', line)
    .requiredOption('--workspace <name>', 'its name or id')
    .action(
      answering(desk, async ({ workspaces, keys }, subject: string, { workspace }: { workspace: string }) => {
        const { id, name } = await workspaces.find(workspace);
        await desk.confirm(`This revokes everything that tokens of ${subject} made in ${name}.`);
        const { ended } = await keys.revokeMadeBySubject(id, subject, actor());
        return { document: { subject, workspace: name, ended }, text: `revoked ${ended} keys` };
      }),
    );

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
    .action(
      answering(desk, (services, prefixOrId: string, { keepHours }: { keepHours: number }) =>
        rotate(services, prefixOrId, keepHours, desk),
      ),
    );
};

interface CreateOptions {
  workspace: string;
  name: string;
  scopes: Scope[];
  expiresDays?: number;
}

async function create({ workspaces, keys }: Services, options: CreateOptions): Promise<Answer> {
  const { name, scopes, expiresDays } = options;
  const workspace = await workspaces.find(options.workspace);
  const expiresAt = expiresDays === undefined ? null : new Date(Date.now() + expiresDays * dayMs);
  const { key, row } = await keys.create(workspace.id, { name, scopes, expiresAt }, { actor: actor() });
  return {
    document: { ...keyDocument(row, workspace.name), key },
    text: newKeyLines(key, row, workspace.name).join('\n'),
  };
}

/** The end of a key is told at once: one that replaces another ends with it, and so may one made by a second rotation. */
const newKeyLines = (key: string, { prefix, expiresAt }: KeyRow, workspace: string): string[] => [
  key,
  '',
  `This is the only time the key is shown. Its prefix is ${prefix}, its workspace ${workspace}.`,
  ...(expiresAt === null ? [] : [`It expires at ${expiresAt.toISOString()}.`]),
];

const keyDocument = (row: KeyRow, workspace: string): RouterKey & { workspace: string } => ({
  ...keyView(row),
  workspace,
});

interface ListOptions {
  workspace?: string;
  kind?: KeyKind;
  limit: number;
  before?: string;
}

async function list(
  { workspaces, keys }: Services,
  { workspace, kind, limit, before }: ListOptions,
): Promise<Answer> {
  const workspaceId = workspace === undefined ? undefined : (await workspaces.find(workspace)).id;
  const found = await keys.list({ workspaceId, kind }, { after: before, limit: limit + 1 });
  const names = new Map((await workspaces.list()).map(({ id, name }) => [id, name]));
  const listed = found
    .slice(0, limit)
    .map((row) => keyDocument(row, names.get(row.workspaceId) ?? row.workspaceId));
  const next = found.length > limit ? listed.at(-1)?.id : undefined;
  const rows = table(listed, {
    PREFIX: (key) => key.prefix,
    WORKSPACE: (key) => key.workspace,
    KIND: (key) => key.kind,
    NAME: (key) => key.name,
    SCOPES: (key) => key.scopes.join(','),
    STATE: (key) => key.state,
    EXPIRES: (key) => key.expires_at ?? 'never',
    ID: (key) => key.id,
    'MADE BY': (key) => key.made_by ?? (key.made_by_subject && `token:${key.made_by_subject}`),
  });
  return {
    document: { keys: listed, ...(next !== undefined && { next_before: next }) },
    text: next === undefined ? rows : `${rows}\nThere are more: repeat it with --before ${next}`,
  };
}

/** A live key; when there is none, the error names those that are near. */
async function liveKey({ keys }: Services, prefixOrId: string): Promise<KeyRow> {
  const found = await keys.find(prefixOrId);
  if (found?.state === 'live') return found;
  const newest = await keys.list({}, { limit: 1_000 });
  throw unknownName(
    'live key',
    prefixOrId,
    newest.filter(({ state }) => state === 'live').map(({ prefix }) => prefix),
  );
}

async function revoke(services: Services, prefixOrId: string, desk: Desk): Promise<Answer> {
  const { id, prefix, name, kind } = await liveKey(services, prefixOrId);
  await desk.confirm(`This revokes the ${kind} ${prefix} (${name}) and everything that it made.`);
  const ended = (await services.keys.revoke(id, actor()))?.ended ?? 0;
  const below = ended > 1 ? `, and ${ended - 1} that it made` : '';
  return { document: { revoked: prefixOrId, ended }, text: `revoked ${prefixOrId}${below}` };
}

async function rotate(
  services: Services,
  prefixOrId: string,
  keepHours: number,
  desk: Desk,
): Promise<Answer> {
  const old = await liveKey(services, prefixOrId);
  const workspace = await services.workspaces.find(old.workspaceId);
  if (keepHours === 0) await desk.confirm(`This revokes the key ${old.prefix} (${old.name}).`);
  const rotated = await services.keys.rotate(old.id, keepHours * 3600, actor());
  if (rotated === null) throw new Error(`${old.prefix} is a ${old.kind}: only keys are rotated.`);
  const { key, row, oldEndsAt: endsAt } = rotated;
  return {
    document: {
      ...keyDocument(row, workspace.name),
      key,
      replaces: { ...keyDocument(old, workspace.name), expires_at: endsAt.toISOString() },
    },
    text: [
      ...newKeyLines(key, row, workspace.name),
      `${old.prefix} ${keepHours === 0 ? 'is revoked' : `works until ${endsAt.toISOString()}`}.`,
    ].join('\n'),
  };
}

interface SignInOptions {
  workspace: string;
  scopes: Scope[];
  url?: string;
}

/** `key sign-in`: only here can a console session get the scope `operate`. */
function signInCommand(key: Command, desk: Desk): void {
  key
    .command('sign-in')
    .description(
      'Make a link that signs a person in to the console, once and within 15 minutes, for 12 hours.',
    )
    .requiredOption('--workspace <name>', 'name or id of its workspace')
    .option('--scopes <list>', 'what the session is good for, comma-separated', scopeList, [...sessionScopes])
    .option('--url <url>', 'where callers reach the gateways (default: PUBLIC_BASE_URL)', httpUrl)
    .action(
      answering(desk, async ({ workspaces, keys }, { workspace, scopes, url }: SignInOptions) => {
        const { id, name } = await workspaces.find(workspace);
        const { code, row, expiresAt } = await keys.createCode(id, scopes, { actor: actor() });
        const base = url ?? desk.env['PUBLIC_BASE_URL'] ?? '';
        const link = `${base.replace(/\/+$/, '')}/console/#code=${code}`;
        return {
          document: {
            url: link,
            code,
            id: row.id,
            prefix: row.prefix,
            workspace: name,
            scopes,
            expires_at: expiresAt.toISOString(),
          },
          text: `${link}\n\nIt works once, until ${expiresAt.toISOString()}.`,
        };
      }),
    );
}
