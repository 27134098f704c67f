import {
  accessTokenAlgorithm,
  type accessTokenClaims,
  accessTokenSettings,
  callerScopes,
  readSettings,
  type Scope,
} from '#schemas';
import { SignJWT } from 'jose';
import type { z } from 'zod';
import type { Answer } from '../answer.js';
import { withServices } from '../open-database.js';
import { line, scopeList } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';

interface CreateOptions {
  workspace: string;
  scopes: Scope[];
  ttlSeconds: number;
  subject?: string;
}

export const tokenCommands: CommandSetup = (token, desk) => {
  token
    .command('create')
    .description('Create an access token. It cannot be revoked before it expires.')
    .requiredOption('--workspace <name>', 'name or id of the workspace')
    .option('--scopes <list>', 'its scopes, comma-separated', scopeList, [...callerScopes])
    .option('--ttl-seconds <n>', 'seconds until it expires', wholeNumber(1), 3600)
    .option('--subject <text>', 'its holder, for the audit record (default: the workspace’s name)', line)
    .action(async (options: CreateOptions) => {
      desk.answer(await create(desk.env, options));
    });
};

async function create(env: NodeJS.ProcessEnv, options: CreateOptions): Promise<Answer> {
  // Read before the database is queried, so that a missing secret is reported first.
  const settings = readSettings(accessTokenSettings, env);
  const workspace = await withServices(env, ({ workspaces }) => workspaces.find(options.workspace));
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

type Settings = z.infer<z.ZodObject<typeof accessTokenSettings>>;

/** Signs a token that the gateways verify. `ttlSeconds` counts from now by this machine's clock. */
async function issueToken(
  holder: { workspaceId: string; scopes: readonly Scope[]; subject: string },
  ttlSeconds: number,
  settings: Settings,
): Promise<{ token: string; expiresAt: Date }> {
  const [secret] = settings.JWT_SECRET;
  const issuedAtSeconds = Math.floor(Date.now() / 1000);
  const expiresAtSeconds = issuedAtSeconds + ttlSeconds;
  const claims = {
    workspace: holder.workspaceId,
    scope: holder.scopes.join(' '),
    sub: holder.subject,
  } satisfies z.input<typeof accessTokenClaims>;
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: accessTokenAlgorithm, typ: 'JWT' })
    .setIssuer(settings.JWT_ISSUER)
    .setAudience(settings.JWT_AUDIENCE)
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(expiresAtSeconds)
    .sign(new TextEncoder().encode(secret));
  return { token, expiresAt: new Date(expiresAtSeconds * 1000) };
}
