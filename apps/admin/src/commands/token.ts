import { accessTokenSettings, callerScopes, readSettings, type Scope } from '#schemas';
import type { Answer } from '../answer.js';
import { issueToken } from '../issue-token.js';
import { withWorkspaces } from '../open-database.js';
import { line, scopeList, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';

interface CreateOptions {
  workspace: string;
  scopes: Scope[];
  ttlSeconds: number;
  subject?: string;
}

export const tokenCommands: CommandGroup = (program, desk) => {
  const token = program.command('token').description('Access tokens, as the /v1 routes take them.');

  token
    .command('create')
    .description('Sign an access token. It cannot be taken back before it expires.')
    .requiredOption('--workspace <name>', 'name or id of the workspace it acts for')
    .option('--scopes <list>', 'what it is good for, comma-separated', scopeList, [...callerScopes])
    .option('--ttl-seconds <n>', 'seconds until it expires', wholeNumber(1), 3600)
    .option('--subject <text>', 'who holds it, for the audit record (default: the workspace’s name)', line)
    .action(async (options: CreateOptions) => {
      desk.answer(await create(desk.env, options));
    });
};

async function create(env: NodeJS.ProcessEnv, options: CreateOptions): Promise<Answer> {
  // Read before the database is asked, so that a missing secret is what the operator hears of first.
  const settings = readSettings(accessTokenSettings, env);
  const workspace = await withWorkspaces(env, (workspaces) => workspaces.find(options.workspace));
  const { scopes, ttlSeconds, subject = workspace.name } = options;
  const { token, expiresAt } = await issueToken(
    { workspaceId: workspace.id, scopes, subject },
    ttlSeconds,
    settings,
  );
  return {
    document: {
      token,
      workspace: workspace.name,
      workspace_id: workspace.id,
      scopes,
      subject,
      expires_at: expiresAt.toISOString(),
    },
    text: token,
  };
}
