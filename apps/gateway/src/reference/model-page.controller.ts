import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { routerModelId } from '#schemas';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unknownPath } from '../answers/to-router-error.js';
import { sentUnchanged } from '../models/entity-tag.js';
import { modelPage } from './model-page.js';
import { script, style } from './model-page-parts.js';
import { inPage, sendPage } from './send-page.js';

const require = createRequire(import.meta.url);
const { version } = require('swagger-ui-dist/package.json') as { version: string };
const etag = `"${version}"`;

/** What the page needs of the library, by media type. */
const files: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

// Pictures and sounds of a tried run are shown, wherever its assets are kept; nothing else is from elsewhere.
const sources = [
  `script-src 'self' ${inPage(script)}`,
  `style-src 'self' ${inPage(style)}`,
  `img-src * data: blob:`,
  `media-src * data: blob:`,
  `connect-src 'self'`,
];

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
    sendPage(reply, modelPage(id.data), sources);
  }

  @Get('files/:name')
  readFile(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const mediaType = Object.hasOwn(files, name) ? files[name] : undefined;
    if (mediaType === undefined) throw unknownPath();
    reply.header('cache-control', 'public, max-age=86400').header('x-content-type-options', 'nosniff');
    if (sentUnchanged(request, reply, etag)) return;
    void reply
      .header('content-type', mediaType)
      .send(createReadStream(require.resolve(`swagger-ui-dist/${name}`)));
  }
}
