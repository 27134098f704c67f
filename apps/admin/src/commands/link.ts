import { maxLiveKeys, type NewCode, WorkspaceExists } from '#persistence';
import {
  firstKeyName,
  isWorkspaceName,
  microsFromCents,
  openingCents,
  readSettings,
  type Scope,
  signInLinkSettings,
  signInUrl,
  workspaceScopes,
} from '#schemas';
import type { Answer, Desk } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { type Credits, creditsToMicros, httpUrl, line, scopeList } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { unknownName } from '../unknown-name.js';

const hourSeconds = 3600;

interface LinkOptions {
  create?: true;
  creditsCents?: Credits;
  keyName?: string;
  key?: string;
  scopes?: Scope[];
  hours?: number;
  url?: string;
}

/** A link as printed: its URL, and the facts by which it is found and revoked. */
interface LinkDocument {
  url: string;
  code: string;
  id: string;
  prefix: string;
  scopes: string[];
  expires_at: string;
}

export const linkCommand: CommandSetup = (command, desk) => {
  command
    .argument('<workspace>', 'name or id of the workspace')
    .option('--create', 'create the workspace and its first key, to which the link then belongs')
    .option('--credits-cents <n|unlimited>', 'with --create: its credits in US cents', creditsToMicros)
    .option('--key-name <text>', 'with --create: name of the first key (default: first key)', line)
    .option('--key <prefix|id>', 'key that the link belongs to; the link and its session end with the key')
    .option(
      '--scopes <list>',
      'scopes of the session and, with --create, of the first key, comma-separated',
      scopeList,
    )
    .option('--hours <n>', 'hours that the link works (default: SIGN_IN_LINK_HOURS)', wholeNumber(1, 168))
    .option('--url <url>', 'base URL of the gateways (default: PUBLIC_BASE_URL)', httpUrl)
    .action(
      answering(desk, (services, name: string, options: LinkOptions) => {
        if (options.scopes?.includes('operate'))
          throw new Error('A customer cannot have the scope "operate". Use "key sign-in" for operators.');
        return options.create ? open(services, name, options, desk) : link(services, name, options, desk);
      }),
    );
};

async function open(services: Services, name: string, options: LinkOptions, desk: Desk): Promise<Answer> {
  if (options.key !== undefined) throw new Error('--key and --create cannot be combined.');
  if (!isWorkspaceName(name))
    throw new Error(
      'A new workspace needs a name of 1 to 100 letters, digits, spaces or characters of "._@-", which is not an id.',
    );
  const base = baseUrl(options, desk);
  const { creditsCents: credits = microsFromCents(openingCents), keyName = firstKeyName } = options;
  const scopes = options.scopes ?? [...workspaceScopes];
  const customer = {
    name,
    settings: {},
    creditsMicros: credits === 'unlimited' ? null : credits,
    key: { name: keyName, scopes, expiresAt: null },
    linkSeconds: linkSeconds(options, desk),
  };
  const opened = await services.onboarding.open(customer, services.actor).catch((error: unknown) => {
    if (!(error instanceof WorkspaceExists)) throw error;
    throw new Error(`${error.message} Leave out --create to get a link for it.`, { cause: error });
  });
  const { key, row } = opened.key;
  const document = linkDocument(opened.link, base);
  return {
    document: {
      ...document,
      workspace: name,
      workspace_id: opened.workspaceId,
      key: { id: row.id, prefix: row.prefix, name: row.name, scopes: row.scopes, key },
    },
    text: [
      document.url,
      '',
      `Send this link to the customer. It works once, until ${document.expires_at}.`,
      `The workspace ${name} is created. Its first key, shown only once:`,
      '',
      key,
      '',
      `"key revoke ${row.prefix}" ends the key, the link and the session that it opens.`,
    ].join('\n'),
  };
}

async function link(services: Services, name: string, options: LinkOptions, desk: Desk): Promise<Answer> {
  if (options.creditsCents !== undefined || options.keyName !== undefined)
    throw new Error('--credits-cents and --key-name need --create.');
  const base = baseUrl(options, desk);
  const workspace = await services.workspaces.find(name);
  if (options.key !== undefined) await checkKey(services, workspace.id, options.key);
  const facts = { key: options.key, scopes: options.scopes, linkSeconds: linkSeconds(options, desk) };
  const made = await services.onboarding.link(workspace.id, facts, services.actor);
  if ('refused' in made) throw new Error(made.refused);
  const document = linkDocument(made, base);
  return {
    document: { ...document, workspace: workspace.name, workspace_id: workspace.id },
    text: [
      document.url,
      '',
      `It works once, until ${document.expires_at}. "key revoke ${document.prefix}" ends it before it is used.`,
    ].join('\n'),
  };
}

/** Rejects a key that is not a live one of the workspace, and suggests similar ones. */
async function checkKey({ keys }: Services, workspaceId: string, given: string): Promise<void> {
  const listed = await keys.list({ workspaceId, kind: 'key' }, { limit: maxLiveKeys });
  const live = listed.filter(({ state }) => state === 'live');
  if (live.some(({ id, prefix }) => id === given || prefix === given)) return;
  throw unknownName(
    'live key of the workspace',
    given,
    live.map(({ prefix }) => prefix),
  );
}

const linkSeconds = ({ hours }: LinkOptions, { env }: Desk): number =>
  (hours ?? readSettings(signInLinkSettings, env).SIGN_IN_LINK_HOURS) * hourSeconds;

/** The address of the gateways. Rejects a link without one before anything is created. */
function baseUrl({ url }: LinkOptions, { env }: Desk): string {
  const base = url ?? env['PUBLIC_BASE_URL'];
  if (!base) throw new Error('Name the address of the gateways with --url or PUBLIC_BASE_URL.');
  return base;
}

const linkDocument = ({ code, row, expiresAt }: NewCode, base: string): LinkDocument => ({
  url: signInUrl(base, code),
  code,
  id: row.id,
  prefix: row.prefix,
  scopes: row.scopes,
  expires_at: expiresAt.toISOString(),
});
