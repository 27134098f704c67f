import { createHash } from 'node:crypto';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ifNoneMatch, sentUnchanged } from '../http/replies.js';
import { answer, ApiRoute } from '../http/api-route.js';
import { llmsText } from './llms-text.js';
import { SERVICE_DOCUMENT, type ServiceDocument } from '../openapi/service-document.js';

/** Serves the API reference for machines. The console shows it to people. */
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
    description: 'A first result, the tasks of the models, the routes and the errors, on one page.',
    answers: [answer(200, 'The text.', { 'text/plain': null }, ['Cache-Control'])],
  })
  readText(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    void reply
      .header('cache-control', 'public, max-age=300')
      .header('content-type', 'text/plain; charset=utf-8')
      .send(llmsText(this.described, request.publicOrigin));
  }
}
