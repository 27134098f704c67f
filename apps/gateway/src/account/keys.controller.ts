import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { ApiKeyRepository, keyView } from '#persistence';
import {
  routerKeyInput,
  routerKeyKind,
  type Page,
  type RouterKey,
  routerKeyListResponse,
  type RouterNewKey,
  routerNewKey,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import { type Caller, makerOf } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { listPage, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { holdTo, orRefused, tooManyKeys } from './key-answers.js';

const keyInput = routerKeyInput.strict();
const keyQuery = pageQuery.extend({
  kind: routerKeyKind.optional().meta({ description: 'Only keys, codes or sessions.' }),
});

@Controller('v2/keys')
export class KeysController {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly bodies: BodyReader,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'ListKeys',
    area: 'Account',
    summary: 'List the API keys of the workspace',
    description:
      'Also console sessions, and the codes of sign-in links. Newest first; ended keys for as long as the records are kept that name them (13 months by default), sessions and codes for 30 days after their end. Continue with `next_cursor` while `has_more` is true.',
    query: keyQuery,
    answers: [
      answer(200, 'One page.', json(routerKeyListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or there is no such kind.'),
    ],
  })
  list(
    @Calling() { workspaceId }: Caller,
    @Query(new QueryPipe(keyQuery)) { kind, ...query }: z.output<typeof keyQuery>,
  ): Promise<Page<RouterKey>> {
    return listPage(query, 'keys', this.settings, {
      read: (page) => this.keys.list({ workspaceId, kind }, page),
      placeOf: ({ id }) => id,
      entryOf: keyView,
    });
  }

  @Post()
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'CreateKey',
    area: 'Account',
    summary: 'Create an API key',
    description:
      'The answer has the text of the key, which is shown this once and stored nowhere. The key belongs to the one that makes it: it ends no later, and is revoked with it. What a console session makes belongs to the key that opened the session.',
    body: routerKeyInput,
    answers: [
      answer(201, 'The key is made and works.', json(routerNewKey), ['Cache-Control']),
      failure(
        400,
        ['invalid_input'],
        'The body is malformed, or the key would have expired already, or would outlive the one that makes it.',
      ),
      failure(
        403,
        ['forbidden', 'not_enabled'],
        'The credential is not entitled to this, or not to a scope of the new key, or has too many makers, or the router is not switched on for its workspace.',
      ),
      tooManyKeys,
    ],
  })
  async create(@Calling() caller: Caller, @Req() request: FastifyRequest): Promise<RouterNewKey> {
    const { name, scopes, expires_at } = await this.bodies.readObject(
      request.raw,
      caller.workspaceId,
      keyInput,
    );
    holdTo(caller, scopes);
    const expiresAt = expires_at === undefined ? null : new Date(expires_at);
    if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
      throw new RouterError('invalid_input', 'expires_at must be in the future.');
    }
    const facts = { name, scopes: [...new Set(scopes)], expiresAt };
    const { key, row } = await orRefused(this.keys.create(caller.workspaceId, facts, makerOf(caller)));
    return { ...keyView(row), key };
  }

  @Delete(':keyId')
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RevokeKey',
    area: 'Account',
    summary: 'Revoke an API key',
    description:
      'And everything that it made: keys, console sessions and the codes of sign-in links, and what these made. Every gateway refuses them within two seconds. A key that was revoked before stays so.',
    answers: [
      answer(204, 'The key is revoked.'),
      failure(404, ['invalid_input'], 'The workspace has no such key.'),
    ],
  })
  async revoke(@Calling() { workspaceId, credential }: Caller, @Param('keyId') keyId: string): Promise<void> {
    const found =
      z.uuid().safeParse(keyId).success && (await this.keys.revoke(keyId, credential, workspaceId));
    if (!found) throw new RouterError('invalid_input', 'There is no such key.', { status: 404 });
  }
}
