import { ApiKeyRepository } from '#persistence';
import { type Scope, sessionScopes } from '#schemas';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import type { Desk } from '../answer.js';
import { withWorkspaces } from '../open-database.js';
import { httpUrl, scopeList } from '../option-values.js';

interface SignInOptions {
  workspace: string;
  scopes: Scope[];
  url?: string;
}

/** `key sign-in`: only here can a console session get the scope `operate`. */
export function signInCommand(key: Command, desk: Desk): void {
  key
    .command('sign-in')
    .description(
      'Make a link that signs a person in to the console, once and within 15 minutes, for 12 hours.',
    )
    .requiredOption('--workspace <name>', 'name or id of its workspace')
    .option('--scopes <list>', 'what the session is good for, comma-separated', scopeList, [...sessionScopes])
    .option('--url <url>', 'where callers reach the gateways (default: PUBLIC_BASE_URL)', httpUrl)
    .action(async ({ workspace, scopes, url = desk.env['PUBLIC_BASE_URL'] ?? '' }: SignInOptions) => {
      desk.answer(
        await withWorkspaces(desk.env, async (workspaces, database) => {
          const { id, name } = await workspaces.find(workspace);
          const keys = new ApiKeyRepository(database);
          const { code, row, expiresAt } = await keys.createCode(id, scopes, { actor: actor() });
          const link = `${url.replace(/\/+$/, '')}/console/#code=${code}`;
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
    });
}
