import { RouterError } from '#errors';
import { ApiKeyRepository } from '#persistence';
import { type RouterNewKey, routerNewKey, type RouterSignInLink, routerSignInLink } from '#schemas';
import { Controller, Header, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { credentialOf } from '../auth/credential.js';
import { answer, ApiRoute, json } from '../reference/api-route.js';
import { shownKey } from './keys.controller.js';

/** Links that open the console signed in, without a key in an address. */
@Controller('v2/sign-in')
export class SignInController {
  constructor(private readonly keys: ApiKeyRepository) {}

  @Post('links')
  @UseGuards(CallerGuard)
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'CreateSignInLink',
    area: 'Account',
    summary: 'Make a link that signs in to the console',
    description:
      'It works once, within 15 minutes, and gives a key with the scopes of this call’s credential for 12 hours.',
    answers: [answer(201, 'The link.', json(routerSignInLink), ['Cache-Control'])],
  })
  async createLink(
    @Calling() { workspaceId, scopes }: Caller,
    @Req() { publicOrigin }: FastifyRequest,
  ): Promise<RouterSignInLink> {
    const { code, expiresAt } = await this.keys.createCode(workspaceId, scopes);
    return { url: `${publicOrigin}/console/#code=${code}`, code, expires_at: expiresAt.toISOString() };
  }

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiRoute({
    name: 'SignIn',
    area: 'Account',
    summary: 'Exchange the code of a sign-in link for a key',
    description: 'The code is sent as a Bearer credential. It is used up by this call.',
    answers: [answer(200, 'The key, shown this once.', json(routerNewKey), ['Cache-Control'])],
  })
  async signIn(@Req() request: FastifyRequest): Promise<RouterNewKey> {
    const code = credentialOf(request.headers, 'v2');
    const exchanged = code && (await this.keys.exchange(code.text));
    if (!exchanged) throw new RouterError('unauthorized', 'The request carries no usable credential.');
    return { ...shownKey(exchanged.row), key: exchanged.key };
  }
}
