import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unknownPath } from '../answers/error.filter.js';
import { ifNoneMatch, sentUnchanged } from '../http/replies.js';
import { answer, ApiRoute, registryFailure } from '../http/api-route.js';
import { llmsText } from './llms-text.js';
import { contentSecurityPolicy, referencePage } from './reference-page.js';
import { SERVICE_DOCUMENT, type ServiceDocument } from '../openapi/service-document.js';

const require = createRequire(import.meta.url);
const { version } = require('swagger-ui-dist/package.json') as { version: string };

/** The files of Swagger UI that the page loads, with their media types. */
const files: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

/** Serves the API reference, for machines and for people. */
@Controller()
export class ReferenceController {
  private readonly document: string;
  private readonly etag: string;

  constructor(@Inject(SERVICE_DOCUMENT) private readonly described: ServiceDocument) {
    this.document = JSON.stringify(described);
    this.etag = `"${createHash('sha256').update(this.document).digest('hex')}"`;
  }

  @Get('openapi.json')
  @ApiRoute({
    name: 'getServiceDocument',
    area: 'Service',
    summary: 'Get this reference as OpenAPI',
    description:
      'The whole service as one OpenAPI 3.1 document. The input fields of a model are in that model’s own document.',
    headers: ifNoneMatch,
    answers: [
      answer(200, 'The document.', { 'application/json': null }, ['ETag', 'Cache-Control']),
      answer(304, 'The document has not changed.', {}, ['ETag', 'Cache-Control']),
    ],
  })
  readDocument(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    reply
      .header('cache-control', 'public, max-age=300')
      // Viewers of OpenAPI documents run in browsers, on other origins.
      .header('access-control-allow-origin', '*');
    if (sentUnchanged(request, reply, this.etag)) return;
    void reply.header('content-type', 'application/json; charset=utf-8').send(this.document);
  }

  @Get('llms.txt')
  @ApiRoute({
    name: 'getTextForModels',
    area: 'Service',
    summary: 'Get this reference for language models',
    description: 'What the service does, its routes and its errors, on one page.',
    answers: [answer(200, 'The text.', { 'text/plain': null }, ['Cache-Control'])],
  })
  readText(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    void reply
      .header('cache-control', 'public, max-age=300')
      .header('content-type', 'text/plain; charset=utf-8')
      .send(llmsText(this.described, request.publicOrigin));
  }

  @Get('docs')
  @ApiRoute({
    name: 'getReference',
    area: 'Service',
    summary: 'Get this reference as a web page',
    description: 'The same document for people. The page loads nothing from other hosts.',
    answers: [answer(200, 'The page.', { 'text/html': null }, ['Cache-Control'])],
  })
  readReference(@Res() reply: FastifyReply): void {
    void reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .header('content-security-policy', contentSecurityPolicy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .send(referencePage);
  }

  @Get('docs/files/:name')
  @ApiRoute({
    name: 'getPageFile',
    area: 'Service',
    summary: 'Get a file of this page',
    description: 'The script and the style sheet of the page.',
    headers: ifNoneMatch,
    answers: [
      answer(200, 'The file.', { 'text/css': null, 'text/javascript': null }, ['ETag', 'Cache-Control']),
      answer(304, 'The file has not changed.', {}, ['ETag', 'Cache-Control']),
      registryFailure(404, 'There is no such file.'),
    ],
  })
  readFile(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const mediaType = Object.hasOwn(files, name) ? files[name] : undefined;
    if (mediaType === undefined) throw unknownPath();
    reply.header('cache-control', 'public, max-age=86400').header('x-content-type-options', 'nosniff');
    if (sentUnchanged(request, reply, `"${version}"`)) return;
    void reply
      .header('content-type', mediaType)
      .send(createReadStream(require.resolve(`swagger-ui-dist/${name}`)));
  }
}
