import { createHash } from 'node:crypto';
import { serviceDocument } from '#schemas';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { noneMatchCovers } from '../models/entity-tag.js';
import type { HttpSettings } from '../http/settings.js';
import { SETTINGS } from '../resources.js';
import { referencePage } from './page.js';
import { style } from './style.js';

const digest = (text: string, encoding: 'hex' | 'base64') =>
  createHash('sha256').update(text).digest(encoding);

/** The reference of the whole service, for machines and for people; made once, from the table of the routes. */
@Controller()
export class ReferenceController {
  private readonly document: string;
  private readonly etag: string;
  private readonly page = referencePage(style);
  // The page needs its own style sheet and nothing else; should something get into it, nothing of it runs.
  private readonly policy = `default-src 'none'; style-src 'sha256-${digest(style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

  constructor(@Inject(SETTINGS) settings: HttpSettings) {
    this.document = JSON.stringify(serviceDocument(settings.PUBLIC_BASE_URL));
    this.etag = `"${digest(this.document, 'hex')}"`;
  }

  @Get('openapi.json')
  readDocument(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    reply
      .header('etag', this.etag)
      .header('cache-control', 'public, max-age=300')
      // Viewers of such documents run in browsers, on other origins.
      .header('access-control-allow-origin', '*');
    if (noneMatchCovers(request.headers['if-none-match'], this.etag)) void reply.code(304).send();
    else void reply.header('content-type', 'application/json; charset=utf-8').send(this.document);
  }

  @Get('docs')
  readPage(@Res() reply: FastifyReply): void {
    void reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .header('content-security-policy', this.policy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .send(this.page);
  }
}
