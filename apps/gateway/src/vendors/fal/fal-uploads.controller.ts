import { openCursor, sealCursor } from '#catalog';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { ApiKeyRepository, FileRepository } from '#persistence';
import { AssetStore, fileKey, type SigningSettings } from '#storage';
import { Controller, HttpCode, Inject, Param, Post, Put, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import path from 'node:path';
import { z } from 'zod';
import { clockToleranceS } from '../../auth/access-tokens.js';
import type { Caller } from '../../auth/caller.js';
import { Access, Calling, notEnabled } from '../../auth/caller.guard.js';
import { BodyReader } from '../../bodies/body-reader.js';
import { fileSeconds, FileUploads, placeTaken } from '../../uploads/file-uploads.js';
import { newId } from '../../http/new-id.js';
import { ApiExcludeController } from '../../http/api-route.js';

const uploadMs = 3600 * 1000;
const extension = /^\.[a-z0-9]{1,8}$/;
// Everything else in the body is ignored.
const initiation = z.object({ file_name: z.string() }).catch({ file_name: '' });

/** Uploads of fal's clients: they get the URL of the future file, and put the file there without a credential. */
@Controller('v2/fal/uploads')
@ApiExcludeController(true)
export class FalUploadsController {
  constructor(
    private readonly bodies: BodyReader,
    private readonly uploads: FileUploads,
    private readonly files: FileRepository,
    private readonly store: AssetStore,
    private readonly keys: ApiKeyRepository,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Post()
  @HttpCode(200)
  @Access({ scope: 'run' })
  async initiate(@Calling() { workspaceId, keyId, token }: Caller, @Req() request: FastifyRequest) {
    const { file_name: given } = await this.bodies.readObject(request.raw, workspaceId, initiation);
    const suffix = path.extname(given).toLowerCase();
    const id = newId();
    const key = fileKey(id, extension.test(suffix) ? suffix : '');
    const sealing = this.sealing();
    const tokenMs = (token?.expiresAt.getTime() ?? Infinity) + clockToleranceS * 1000 - sealing.nowMs;
    const ttlMs = Math.min(uploadMs, tokenMs);
    const upload = sealCursor([workspaceId, id, key, keyId ?? ''].join(' '), { ...sealing, ttlMs });
    return {
      upload_url: `${request.publicOrigin}/fal/uploads/${upload}`,
      file_url: await this.store.sign(key, { expiresInSeconds: fileSeconds, nowMs: Date.now() }),
    };
  }

  /** Nearly all files that fal's clients send in parts are larger than the router's own limit. */
  @Post('parts')
  @Access({ scope: 'run' })
  refuseParts(): never {
    throw new RouterError(
      'invalid_input',
      'The router takes no file in parts, as fal’s clients send files above 90 MB. Upload it with POST /v2/files.',
      { status: 413 },
    );
  }

  @Put(':upload')
  async put(@Param('upload') upload: string, @Req() request: FastifyRequest) {
    const [workspaceId = '', id = '', key = '', keyId = ''] = this.opened(upload).split(' ');
    // The upload URL ends with the credential that requested it.
    const isEnabled = await this.keys.isEnabled(workspaceId, keyId === '' ? null : keyId);
    if (isEnabled === null) throw noPlace();
    if (!isEnabled) throw notEnabled();
    // Checked before a byte of the file is read.
    if ((await this.files.find(workspaceId, id)) !== null) throw placeTaken();
    await this.uploads.take(request.raw, workspaceId, { id, key });
    return {};
  }

  private opened(upload: string): string {
    try {
      return openCursor(upload, this.sealing());
    } catch {
      throw noPlace();
    }
  }

  private sealing() {
    return { list: 'uploads', secrets: this.settings.SIGNING_SECRET, nowMs: Date.now() } as const;
  }
}

const noPlace = () => new RouterError('unauthorized', 'The upload URL is invalid or has expired.');
