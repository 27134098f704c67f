import { RouterError } from '#errors';
import { type AssetUrlClaim, AssetStore, dispositionOf, type OpenAsset, StorageError } from '#storage';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ifNoneMatch, noBody, openedFor, sentUnchanged } from '../http/replies.js';
import { requestedRange } from '../http/ranges.js';
import { answer, ApiRoute, registryFailure } from '../http/api-route.js';

interface SignedRequest {
  Params: { '*': string };
  Querystring: { expires?: unknown; signature?: unknown };
}

/** Time limit for opening an asset. */
const openMs = 10_000;

const signature = z.object({
  expires: z.int().meta({ description: 'Expiry of the link, in seconds since 1970.' }),
  signature: z.string().meta({ description: 'HMAC signature of the link.' }),
});

/**
 * Serves signed URLs when assets are stored as files. With S3 such URLs point to S3, and this route finds
 * nothing.
 */
@Controller('assets')
export class AssetsController {
  constructor(private readonly store: AssetStore) {}

  @Get('*')
  @ApiRoute({
    name: 'getAsset',
    area: 'Service',
    summary: 'Download a copied asset',
    description:
      'Signed links in results point here when assets are stored as files, and to S3 otherwise. Anyone who has a link can open its asset until the link expires. `Range` with a single range is supported, also with `If-Range`.',
    query: signature,
    headers: ifNoneMatch,
    answers: [
      answer(200, 'The asset, with its own media type.', { '*/*': null }, ['ETag', 'Cache-Control']),
      answer(206, 'The requested bytes.', { '*/*': null }, ['ETag', 'Cache-Control', 'Content-Range']),
      answer(304, 'The asset has not changed.', {}, ['ETag', 'Cache-Control']),
      registryFailure(416, 'The requested range is outside the asset.', ['Content-Range']),
      registryFailure(404, 'There is no such asset, or its link has expired.'),
      registryFailure(503, 'The asset cannot be read at the moment; retry later.'),
    ],
  })
  async read(@Req() request: FastifyRequest<SignedRequest>, @Res() reply: FastifyReply): Promise<void> {
    const { expires, signature } = request.query;
    const claim = { key: request.params['*'], expires: String(expires), signature: String(signature) };
    const asset = await openedFor(reply, openMs, (signal) => this.open(claim, signal));
    const { mediaType, bytes } = asset;
    const etag = `"${asset.version}"`;
    void reply
      .header('content-type', mediaType)
      .header('accept-ranges', 'bytes')
      // A provider's file must never run as a page of this origin, whatever its media type.
      .header('x-content-type-options', 'nosniff')
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('content-disposition', dispositionOf(mediaType))
      .header('cross-origin-resource-policy', 'cross-origin')
      .header('access-control-allow-origin', '*')
      .header('cache-control', `private, max-age=${secondsUntil(Number(expires))}, immutable`);
    const { range: requested, 'if-range': ifRange = etag } = request.headers;
    const range = ifRange === etag && request.method === 'GET' ? requestedRange(requested, bytes) : undefined;
    if (sentUnchanged(request, reply, etag)) return asset.close();
    if (range === null) {
      await asset.close();
      throw new RouterError('invalid_input', 'The requested range is outside the asset.', {
        status: 416,
        headers: { 'Content-Range': `bytes */${bytes}`, 'Cache-Control': 'no-store' },
      });
    }
    const { start, end } = range ?? { start: 0, end: bytes - 1 };
    if (range !== undefined) void reply.code(206).header('content-range', `bytes ${start}-${end}/${bytes}`);
    void reply.header('content-length', end - start + 1);
    if (request.method === 'GET') return void reply.send(asset.read(range));
    void reply.send(noBody());
    return asset.close();
  }

  private async open(claim: AssetUrlClaim, signal: AbortSignal): Promise<OpenAsset> {
    try {
      return await this.store.openSigned(claim, { nowMs: Date.now(), signal });
    } catch (error) {
      throw answerTo(error);
    }
  }
}

const secondsUntil = (expires: number) => Math.max(0, expires - Math.floor(Date.now() / 1000));

function answerTo(error: unknown): RouterError {
  if (error instanceof StorageError && error.failure !== 'unavailable') {
    return new RouterError('invalid_input', 'There is no such asset, or its link has expired.', {
      status: 404,
    });
  }
  return new RouterError('service_unavailable', 'The asset cannot be read at the moment; retry later.', {
    internal: 'the asset folder failed',
    cause: error,
  });
}
