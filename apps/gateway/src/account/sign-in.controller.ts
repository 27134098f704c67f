import { ApiKeyRepository, keyView } from '#persistence';
import {
  type RouterNewKey,
  routerNewKey,
  type RouterSignInLink,
  routerSignInLink,
  sessionScopes,
  signInUrl,
  workspaceScopes,
} from '#schemas';
import { Controller, Header, HttpCode, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, Calling, noCredential } from '../auth/caller.guard.js';
import { type Caller, makerOf } from '../auth/caller.js';
import { CodeExchange } from '../auth/code-exchange.js';
import { credentialOf } from '../auth/credential.js';
import { once, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { holdTo, orRefused, tooManyKeys } from './key-answers.js';

const linkQuery = z.object({
  scopes: once()
    .transform((text) => [...new Set(text.split(','))])
    .pipe(
      z.array(
        z.enum(workspaceScopes, `must be one or more of ${workspaceScopes.join(', ')}, separated by commas`),
      ),
    )
    .optional()
    .meta({
      type: 'string',
      description:
        'Scopes of the session, separated by commas. By default, all scopes of the calling credential except `manage`, which must be requested explicitly, and `operate`, which no session can have.',
    }),
});

/** Links that open the console signed in, without putting a key into a URL. */
@Controller('v2/sign-in')
export class SignInController {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly codes: CodeExchange,
  ) {}

  @Post('links')
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'CreateSignInLink',
    area: 'Account',
    summary: 'Create a link that signs in to the console',
    description:
      'The link works once, within 15 minutes. It opens a session that acts for the credential of this call and ends with it, at the latest 12 hours after the link was created.',
    query: linkQuery,
    answers: [
      answer(201, 'The link.', json(routerSignInLink), ['Cache-Control']),
      failure(400, ['invalid_input'], 'A scope is unknown, or no session can have it.'),
      failure(
        403,
        ['forbidden', 'not_enabled'],
        'The credential lacks `manage` or a scope of the session, its chain of creators is too long, or the router is not enabled for its workspace.',
      ),
      tooManyKeys,
    ],
  })
  async createLink(
    @Calling() caller: Caller,
    @Query(new QueryPipe(linkQuery)) { scopes: wanted }: z.output<typeof linkQuery>,
    @Req() { publicOrigin }: FastifyRequest,
  ): Promise<RouterSignInLink> {
    holdTo(caller, wanted ?? []);
    const scopes = wanted ?? sessionScopes.filter((scope) => caller.scopes.includes(scope));
    const { code, row, expiresAt } = await orRefused(
      this.keys.createCode(caller.workspaceId, scopes, makerOf(caller)),
    );
    return {
      url: signInUrl(publicOrigin, code),
      code,
      expires_at: expiresAt.toISOString(),
      id: row.id,
      scopes: row.scopes,
    };
  }

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiRoute({
    name: 'SignIn',
    area: 'Account',
    summary: 'Exchange the code of a sign-in link for a key',
    description: 'Send the code as a Bearer credential. A code works only once.',
    answers: [answer(200, 'The key, shown only once.', json(routerNewKey), ['Cache-Control'])],
  })
  async signIn(@Req() request: FastifyRequest): Promise<RouterNewKey> {
    const code = credentialOf(request.headers, 'v2');
    const exchanged = code && (await this.codes.exchange(code.text));
    if (!exchanged) throw noCredential();
    return { ...keyView(exchanged.row), key: exchanged.key };
  }
}
