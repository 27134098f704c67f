import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetStore } from '#storage';
import fastifyStatic from '@fastify/static';
import { Controller, Get, type OnModuleInit, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiExcludeController } from '../http/api-route.js';

/** What `npm run build` leaves beside this app. */
const root = fileURLToPath(new URL('../../../console', import.meta.url));

/** Beside the page itself and `assets/`. */
const plainFiles = new Set(['theme.js', 'mark.svg']);

/** The console: files, and the one page for every path of its own below `/console/`. It uses the public API only. */
@Controller()
@ApiExcludeController(true)
export class ConsoleController implements OnModuleInit {
  private policy: Promise<string> | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly store: AssetStore,
  ) {}

  onModuleInit(): void {
    const server: FastifyInstance = this.host.httpAdapter.getInstance();
    server.register(fastifyStatic, {
      root,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (reply, file) => {
        // Only these are named after what they hold.
        const isHashed = file.startsWith(path.join(root, 'assets/'));
        void reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
        void reply.header('x-content-type-options', 'nosniff');
      },
    });
  }

  @Get(['', 'console'])
  start(@Res() reply: FastifyReply): void {
    void reply.redirect('/console/', 302);
  }

  @Get('console/*')
  async read(
    @Req() { params }: FastifyRequest<{ Params: { '*': string } }>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { '*': file } = params;
    if (file.startsWith('assets/') || plainFiles.has(file)) return void reply.sendFile(file);
    void reply
      .header('content-security-policy', await this.currentPolicy())
      .header('cross-origin-opener-policy', 'same-origin')
      .header('referrer-policy', 'no-referrer')
      .sendFile('index.html');
  }

  /** Media come from where links to assets lead, which the store alone knows. */
  private currentPolicy(): Promise<string> {
    this.policy ??= this.store
      .sign('console', { expiresInSeconds: 1, nowMs: Date.now() })
      .then((url) => contentSecurityPolicy(new URL(url).origin))
      .catch(() => {
        this.policy = undefined;
        return contentSecurityPolicy();
      });
    return this.policy;
  }
}

/**
 * Scripts, styles and fonts are files of this origin. Media, and results that are read to be shown, may come from where
 * assets are kept, and from nowhere else.
 */
function contentSecurityPolicy(assetOrigin = ''): string {
  const media = ['blob:', 'data:', assetOrigin].join(' ').trim();
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `font-src 'self'`,
    `img-src 'self' ${media}`,
    `media-src 'self' ${media}`,
    // The textures of a 3D model are read from its file.
    `connect-src 'self' blob: ${assetOrigin}`.trim(),
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}
