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
  kind: routerKeyKind.optional().meta({ description: 'Only entries of this kind: keys, codes or sessions.' }),
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
      'Includes console sessions and the codes of sign-in links, newest first. Keys that expired or were revoked stay listed as long as the records that name them are kept (13 months by default), sessions and codes for 30 days. Continue with `next_cursor` while `has_more` is true.',
    query: keyQuery,
    answers: [
      answer(200, 'One page.', json(routerKeyListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or `kind` is invalid.'),
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
      'The response contains the text of the key. It is shown only once and is not stored. The new key belongs to the key that creates it: it cannot expire later, has its tags too, and is revoked with it. A key created by a console session belongs to the key that opened the session.',
    body: routerKeyInput,
    answers: [
      answer(201, 'The key was created and works immediately.', json(routerNewKey), ['Cache-Control']),
      failure(
        400,
        ['invalid_input'],
        'The body is malformed, or `expires_at` is in the past or later than the expiry of the creating key.',
      ),
      failure(
        403,
        ['forbidden', 'not_enabled'],
        'The credential lacks `manage` or a scope of the new key, its tags differ from those of the new key, its chain of creators is too long, or the router is not enabled for its workspace.',
      ),
      tooManyKeys,
    ],
  })
  async create(@Calling() caller: Caller, @Req() request: FastifyRequest): Promise<RouterNewKey> {
    const { name, scopes, expires_at, tags } = await this.bodies.readObject(
      request.raw,
      caller.workspaceId,
      keyInput,
    );
    holdTo(caller, scopes);
    const expiresAt = expires_at === undefined ? null : new Date(expires_at);
    if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
      throw new RouterError('invalid_input', 'expires_at must be in the future.');
    }
    const facts = { name, scopes: [...new Set(scopes)], expiresAt, tags };
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
      'Also revokes everything that the key created, directly or indirectly: keys, console sessions and the codes of sign-in links. Every gateway rejects them within two seconds. Revoking a revoked key has no effect.',
    answers: [
      answer(204, 'The key has been revoked.'),
      failure(404, ['invalid_input'], 'The workspace has no such key.'),
    ],
  })
  async revoke(@Calling() { workspaceId, credential }: Caller, @Param('keyId') keyId: string): Promise<void> {
    const found =
      z.uuid().safeParse(keyId).success && (await this.keys.revoke(keyId, credential, workspaceId));
    if (!found) throw new RouterError('invalid_input', 'There is no such key.', { status: 404 });
  }
}
