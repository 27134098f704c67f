import { RouterError } from '#errors';
import { ApiKeyRepository, type KeyRow } from '#persistence';
import {
  type RouterKey,
  routerKeyInput,
  type RouterKeyListResponse,
  routerKeyListResponse,
  type RouterNewKey,
  routerNewKey,
} from '#schemas';
import { Controller, Delete, Get, Header, HttpCode, Param, Post, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../reference/api-route.js';

const keyInput = routerKeyInput.strict();

@Controller('v2/keys')
@UseGuards(CallerGuard)
export class KeysController {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly bodies: BodyReader,
  ) {}

  @Get()
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'ListKeys',
    area: 'Account',
    summary: 'List the API keys of the workspace',
    answers: [answer(200, 'All of them.', json(routerKeyListResponse))],
  })
  async list(@Calling() { workspaceId }: Caller): Promise<RouterKeyListResponse> {
    return { data: (await this.keys.list(workspaceId)).map(shownKey) };
  }

  @Post()
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'CreateKey',
    area: 'Account',
    summary: 'Create an API key',
    description: 'The answer has the text of the key, which is shown this once and stored nowhere.',
    body: routerKeyInput,
    answers: [
      answer(201, 'The key is made and works.', json(routerNewKey), ['Cache-Control']),
      failure(400, ['invalid_input'], 'The body is malformed, or the key would have expired already.'),
      failure(
        403,
        ['forbidden', 'not_enabled'],
        'The credential is not entitled to this, or not to a scope of the new key, or the router is not switched on for its workspace.',
      ),
    ],
  })
  async create(@Calling() caller: Caller, @Req() request: FastifyRequest): Promise<RouterNewKey> {
    const { name, scopes, expires_at } = await this.bodies.object(request.raw, caller.workspaceId, keyInput);
    const missing = scopes.find((scope) => !caller.scopes.includes(scope));
    if (missing !== undefined) {
      throw new RouterError(
        'forbidden',
        `This credential lacks the scope "${missing}", and cannot give it away.`,
      );
    }
    const expiresAt = expires_at === undefined ? null : new Date(expires_at);
    if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
      throw new RouterError('invalid_input', 'expires_at must be in the future.');
    }
    const { key, row } = await this.keys.create(caller.workspaceId, {
      name,
      scopes: [...new Set(scopes)],
      expiresAt,
    });
    return { ...shownKey(row), key };
  }

  @Delete(':keyId')
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RevokeKey',
    area: 'Account',
    summary: 'Revoke an API key',
    description: 'Every gateway refuses it within two seconds. A key that was revoked before stays so.',
    answers: [
      answer(204, 'The key is revoked.'),
      failure(404, ['invalid_input'], 'The workspace has no such key.'),
    ],
  })
  async revoke(@Calling() { workspaceId }: Caller, @Param('keyId') keyId: string): Promise<void> {
    const found = z.uuid().safeParse(keyId).success && (await this.keys.revoke(keyId, workspaceId));
    if (!found) throw new RouterError('invalid_input', 'There is no such key.', { status: 404 });
  }
}

/** A key as its workspace sees it, without its text. */
export const shownKey = (row: KeyRow): RouterKey => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  state: row.state,
  created_at: row.createdAt.toISOString(),
  ...(row.expiresAt && { expires_at: row.expiresAt.toISOString() }),
  ...(row.revokedAt && { revoked_at: row.revokedAt.toISOString() }),
});
