import { type ApiKeyRepository, type KeyKind, keyKinds, type KeyRow, keyView } from '#persistence';
import {
  callerScopes,
  type RouterKey,
  type Scope,
  sessionScopes,
  signInUrl,
  type Tags,
  tagsText,
} from '#schemas';
import { type Command, Option } from 'commander';
import type { Answer, Desk } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { httpUrl, keyId, line, scopeList, tag } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

const dayMs = 24 * 60 * 60 * 1000;

export const keyCommands: CommandSetup = (key, desk) => {
  key
    .command('create')
    .description('Create an API key. The key is shown only once and is not stored.')
    .requiredOption('--workspace <name>', 'name or id of the workspace')
    .option('--name <text>', 'name of the key, such as its purpose', line, 'key')
    .option('--scopes <list>', 'its scopes, comma-separated', scopeList, [...callerScopes])
    .option('--expires-days <n>', 'days until it expires (default: never)', wholeNumber(1, 36_500))
    .option('--tag <name=value>', 'tag that each of its runs gets; may be repeated', tag)
    .action(answering(desk, create));

  key
    .command('list')
    .description('List API keys, console sessions and the codes of sign-in links, newest first.')
    .option('--workspace <name>', 'only keys of this workspace')
    .addOption(new Option('--kind <kind>', 'only keys of this kind').choices(keyKinds))
    .option('--limit <n>', 'maximum number of keys', wholeNumber(1, 10_000), 1_000)
    .option('--before <id>', 'only keys created before this one, for the next page', keyId)
    .action(answering(desk, list));

  key
    .command('revoke')
    .description(
      'Revoke an API key and all keys and sessions created with it. Gateways reject them within two seconds.',
    )
    .argument('<prefix|id>', 'prefix or id shown by "key list"')
    .action(answering(desk, (services, prefixOrId: string) => revoke(services, prefixOrId, desk)));

  key
    .command('revoke-made-by')
    .description(
      'Revoke all keys and sessions that were created in a workspace with the access tokens of one subject.',
    )
    .argument('<subject>', 'subject of the access tokens, as shown by "key list"', line)
    .requiredOption('--workspace <name>', 'name or id of the workspace')
    .action(
      answering(
        desk,
        async ({ workspaces, keys, actor }, subject: string, { workspace }: { workspace: string }) => {
          const { id, name } = await workspaces.find(workspace);
          await checkSubject(keys, id, subject);
          await desk.confirm(
            `This revokes all keys and sessions created with tokens of ${subject} in ${name}.`,
          );
          const { ended } = await keys.revokeMadeBySubject(id, subject, actor);
          return {
            document: { subject, workspace: name, ended },
            text: `revoked ${ended} keys and sessions`,
          };
        },
      ),
    );

  signInCommand(key, desk);

  key
    .command('rotate')
    .description(
      'Create a replacement for a key. The old key keeps working for a while (24 hours by default), and the new key expires when the old one would have. Keys and sessions created with the old key are kept and belong to the new one, so revoke a leaked key instead of rotating it.',
    )
    .argument('<prefix|id>', 'prefix or id shown by "key list"')
    .option(
      '--keep-hours <n>',
      'hours the old key keeps working; 0 revokes it immediately',
      wholeNumber(0, 8760),
      24,
    )
    .action(
      answering(desk, (services, prefixOrId: string, { keepHours }: { keepHours: number }) =>
        rotate(services, prefixOrId, keepHours, desk),
      ),
    );
};

/** Rejects a subject whose tokens created none of the workspace's keys, which is probably a typo. */
async function checkSubject(keys: ApiKeyRepository, workspaceId: string, subject: string): Promise<void> {
  const listed = await keys.list({ workspaceId }, { limit: 100_000 });
  const known = new Set(listed.flatMap(({ madeBySubject }) => madeBySubject ?? []));
  if (!known.has(subject)) throw unknownName('subject', subject, known);
}

interface CreateOptions {
  workspace: string;
  name: string;
  scopes: Scope[];
  expiresDays?: number;
  tag?: Tags;
}

async function create({ workspaces, keys, actor }: Services, options: CreateOptions): Promise<Answer> {
  const { name, scopes, expiresDays, tag: tags } = options;
  const workspace = await workspaces.find(options.workspace);
  const expiresAt = expiresDays === undefined ? null : new Date(Date.now() + expiresDays * dayMs);
  const { key, row } = await keys.create(workspace.id, { name, scopes, expiresAt, tags }, { actor });
  return {
    document: { ...keyDocument(row, workspace.name), key },
    text: newKeyLines(key, row, workspace.name).join('\n'),
  };
}

/** Includes the key's expiry, because a replacement expires when the replaced key would have. */
const newKeyLines = (key: string, { prefix, expiresAt }: KeyRow, workspace: string): string[] => [
  key,
  '',
  `This key is shown only once. Its prefix is ${prefix} and its workspace is ${workspace}.`,
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
    TAGS: (key) => tagsText(key.tags) || '-',
    STATE: (key) => key.state,
    USED: (key) => key.last_used_at ?? 'never',
    EXPIRES: (key) => key.expires_at ?? 'never',
    ID: (key) => key.id,
    'MADE BY': (key) => key.made_by ?? (key.made_by_subject && `token:${key.made_by_subject}`),
  });
  return {
    document: { keys: listed, ...(next !== undefined && { next_before: next }) },
    text: next === undefined ? rows : `${rows}\nThere are more. Continue with --before ${next}`,
  };
}

/** Finds a live key. If there is none, the error suggests similar ones. */
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
  await desk.confirm(
    `This revokes the ${kind} ${prefix} (${name}) and all keys and sessions created with it.`,
  );
  const ended = (await services.keys.revoke(id, services.actor))?.ended ?? 0;
  const below = ended > 1 ? `, and ${ended - 1} created with it` : '';
  return { document: { revoked: prefixOrId, ended }, text: `revoked ${prefixOrId}${below}` };
}

async function rotate(
  services: Services,
  prefixOrId: string,
  keepHours: number,
  desk: Desk,
): Promise<Answer> {
  const old = await liveKey(services, prefixOrId);
  if (old.kind !== 'key') throw new Error(`${old.prefix} is a ${old.kind}. Only API keys can be rotated.`);
  const workspace = await services.workspaces.find(old.workspaceId);
  if (keepHours === 0) await desk.confirm(`This revokes the key ${old.prefix} (${old.name}).`);
  const rotated = await services.keys.rotate(old.id, keepHours * 3600, services);
  // It may have been revoked since it was found.
  if (rotated === null) throw new Error(`${old.prefix} is no longer live.`);
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

/** `key sign-in`: the only way to create a console session with the scope `operate`. */
function signInCommand(key: Command, desk: Desk): void {
  key
    .command('sign-in')
    .description(
      'Create a link that signs in to the console, for yourself. It works once, within 15 minutes. The session lasts 12 hours. For a customer, use "link".',
    )
    .requiredOption('--workspace <name>', 'name or id of the workspace')
    .option('--scopes <list>', 'scopes of the session, comma-separated', scopeList, [...sessionScopes])
    .option('--url <url>', 'base URL of the gateways (default: PUBLIC_BASE_URL)', httpUrl)
    .action(
      answering(desk, async ({ workspaces, keys, actor }, { workspace, scopes, url }: SignInOptions) => {
        const { id, name } = await workspaces.find(workspace);
        const { code, row, expiresAt } = await keys.createCode(id, scopes, { actor });
        const link = signInUrl(url ?? desk.env['PUBLIC_BASE_URL'] ?? '', code);
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
