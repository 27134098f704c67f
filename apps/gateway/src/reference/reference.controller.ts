import { createHash } from 'node:crypto';
import { serviceDocument } from '#schemas';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sentUnchanged } from '../models/entity-tag.js';
import type { HttpSettings } from '../http/settings.js';
import { SETTINGS } from '../settings.module.js';
import { referencePage } from './page.js';
import { inPage, sendPage } from './send-page.js';
import { style } from './style.js';

/** The reference of the whole service, for machines and for people; made once, from the table of the routes. */
@Controller()
export class ReferenceController {
  private readonly document: string;
  private readonly etag: string;
  private readonly page = referencePage(style);
  // The page needs its own style sheet and nothing else; should something get into it, nothing of it runs.
  private readonly sources = [`style-src ${inPage(style)}`];

  constructor(@Inject(SETTINGS) settings: HttpSettings) {
    this.document = JSON.stringify(serviceDocument(settings.PUBLIC_BASE_URL));
    this.etag = `"${createHash('sha256').update(this.document).digest('hex')}"`;
  }

  @Get('openapi.json')
  readDocument(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    reply
      .header('cache-control', 'public, max-age=300')
      // Viewers of such documents run in browsers, on other origins.
      .header('access-control-allow-origin', '*');
    if (sentUnchanged(request, reply, this.etag)) return;
    void reply.header('content-type', 'application/json; charset=utf-8').send(this.document);
  }

  @Get('docs')
  readPage(@Res() reply: FastifyReply): void {
    sendPage(reply, this.page, this.sources);
  }
}
