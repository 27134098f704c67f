import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { routerModelId } from '#schemas';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unknownPath } from '../answers/to-router-error.js';
import { noneMatchCovers } from '../models/entity-tag.js';
import { modelPage } from './model-page.js';
import { script, style } from './model-page-parts.js';

const require = createRequire(import.meta.url);
const { version } = require('swagger-ui-dist/package.json') as { version: string };
const etag = `"${version}"`;

/** What the page needs of the library, by media type. */
const files: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// Pictures and sounds of a tried run are shown, wherever its assets are kept; nothing else is from elsewhere.
const policy = [
  `default-src 'none'`,
  `script-src 'self' ${digest(script)}`,
  `style-src 'self' ${digest(style)}`,
  `img-src * data: blob:`,
  `media-src * data: blob:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

/** A page for each model, with a form to try it. */
@Controller('docs')
export class ModelPageController {
  @Get('models/:provider/:model')
  readPage(
    @Param('provider') provider: string,
    @Param('model') model: string,
    @Res() reply: FastifyReply,
  ): void {
    const id = routerModelId.safeParse(`${provider}/${model}`);
    if (!id.success) throw unknownPath();
    void reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .header('content-security-policy', policy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .send(modelPage(id.data));
  }

  @Get('files/:name')
  readFile(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const mediaType = Object.hasOwn(files, name) ? files[name] : undefined;
    if (mediaType === undefined) throw unknownPath();
    reply
      .header('etag', etag)
      .header('cache-control', 'public, max-age=86400')
      .header('x-content-type-options', 'nosniff');
    if (noneMatchCovers(request.headers['if-none-match'], etag)) return void reply.code(304).send();
    void reply
      .header('content-type', mediaType)
      .send(createReadStream(require.resolve(`swagger-ui-dist/${name}`)));
  }
}
