import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetStore } from '#storage';
import fastifyStatic from '@fastify/static';
import { Controller, Get, type OnModuleInit, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiExcludeController } from '../http/api-route.js';

/** The folder beside this app where `npm run build` puts the console. */
const root = fileURLToPath(new URL('../../../console', import.meta.url));

/** Files served besides the page itself, `assets/`, and the files in the models' examples, `samples/`. */
const plainFiles = new Set(['theme.js', 'mark.svg']);

/**
 * Serves the console: its files, and its single page for all other paths below `/console/`. It uses only the public
 * API.
 */
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
        // Only the names of these files contain a hash of their content.
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

  @Get('docs')
  showReference(@Res() reply: FastifyReply): void {
    void reply.redirect('/console/reference', 302);
  }

  @Get('console/*')
  async read(
    @Req() { params }: FastifyRequest<{ Params: { '*': string } }>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { '*': file } = params;
    if (/^(assets|samples)\//.test(file) || plainFiles.has(file)) return void reply.sendFile(file);
    void reply
      .header('content-security-policy', await this.currentPolicy())
      .header('cross-origin-opener-policy', 'same-origin')
      .header('referrer-policy', 'no-referrer')
      .sendFile('index.html');
  }

  /** Allows media from the origin of asset links, which only the store knows. */
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
 * Scripts, styles and fonts come from this origin. Media, and results that the console reads to show them, may also
 * come from the origin of assets, and from nowhere else.
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
    // The viewer reads the textures of a 3D model from blobs of its file.
    `connect-src 'self' blob: ${assetOrigin}`.trim(),
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}
