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
  type RouterRotatedKey,
  routerRotatedKey,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import { type Caller, makerOf } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { listPage, once, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { holdTo, orRefused, tooManyKeys } from './key-answers.js';

const keyInput = routerKeyInput.strict();
const keyQuery = pageQuery.extend({
  kind: routerKeyKind.optional().meta({ description: 'Only entries of this kind: keys, codes or sessions.' }),
});
/** 30 days. */
const maxKeepHours = 720;
const rotationQuery = z.object({
  keep_hours: once()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .refine((hours) => hours <= maxKeepHours, `must be at most ${maxKeepHours}`)
    .default(24)
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: maxKeepHours,
      default: 24,
      description: 'How long the former key keeps working, in hours. 0 revokes it at once.',
    }),
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

  @Post(':keyId/rotate')
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RotateKey',
    area: 'Account',
    summary: 'Replace an API key',
    description:
      'Creates a key with the same name, scopes, tags, maker and expiry, and shows its text this once. The former key keeps working for a while. Budgets count both together, and what the former key created belongs to its successor. A key rotates the keys that it created, directly or indirectly, and a console session those of the key that opened it; a key cannot rotate itself.',
    query: rotationQuery,
    answers: [
      answer(201, 'The successor was created and works immediately.', json(routerRotatedKey), [
        'Cache-Control',
      ]),
      failure(400, ['invalid_input'], '`keep_hours` is not a whole number from 0 to 720.'),
      failure(
        403,
        ['forbidden', 'not_enabled'],
        'The credential lacks `manage` or a scope of the key, did not create the key, or the router is not enabled for its workspace.',
      ),
      failure(404, ['invalid_input'], 'The workspace has no such key.'),
      failure(409, ['invalid_input'], 'The key has ended, or is a session or a sign-in link.'),
      tooManyKeys,
    ],
  })
  async rotate(
    @Calling() caller: Caller,
    @Param('keyId') keyId: string,
    @Query(new QueryPipe(rotationQuery)) { keep_hours: keepHours }: z.output<typeof rotationQuery>,
  ): Promise<RouterRotatedKey> {
    const former = z.uuid().safeParse(keyId).success ? await this.keys.find(keyId) : null;
    if (former?.workspaceId !== caller.workspaceId) throw noSuchKey();
    holdTo(caller, former.scopes);
    const rotated = await orRefused(this.keys.rotate(former.id, keepHours * 3600, makerOf(caller)));
    if (rotated === null)
      throw new RouterError('invalid_input', 'Only API keys that work can be rotated.', { status: 409 });
    const { key, row, oldEndsAt } = rotated;
    return { ...keyView(row), key, former_ends_at: oldEndsAt.toISOString() };
  }

  @Delete(':keyId')
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RevokeKey',
    area: 'Account',
    summary: 'Revoke an API key',
    description:
      'Also revokes everything that the key created, directly or indirectly: keys, console sessions and the codes of sign-in links. Every gateway rejects them within two seconds. A key revokes itself and what it created, directly or indirectly, and a console session what the key that opened it created. Revoking a revoked key has no effect.',
    answers: [
      answer(204, 'The key has been revoked.'),
      failure(
        403,
        ['forbidden', 'not_enabled'],
        'The credential lacks `manage`, did not create the key, or the router is not enabled for its workspace.',
      ),
      failure(404, ['invalid_input'], 'The workspace has no such key.'),
    ],
  })
  async revoke(@Calling() caller: Caller, @Param('keyId') keyId: string): Promise<void> {
    const isId = z.uuid().safeParse(keyId).success;
    const revoked = isId && (await orRefused(this.keys.revokeAs(keyId, caller.workspaceId, makerOf(caller))));
    if (!revoked) throw noSuchKey();
  }
}

const noSuchKey = () => new RouterError('invalid_input', 'There is no such key.', { status: 404 });
