import { detail, entry, LiveCatalog, openApiDocument, openCursor, sealCursor } from '#catalog';
import type { RouterModelDetail, RouterModelListResponse } from '#schemas';
import { Controller, Get, Inject, Param, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../auth/access.js';
import { type Caller, mayRun, maySee } from '../auth/caller.js';
import { CallerGuard } from '../auth/caller.guard.js';
import { Calling } from '../auth/calling.js';
import { generationOf } from '../http/generation.js';
import { SETTINGS } from '../settings.module.js';
import type { GatewaySettings } from '../settings.js';
import { sentUnchanged } from './entity-tag.js';
import { visibleModel } from './find-model.js';
import { type Query as PageQuery, pageCursor, pageLimit } from './page-request.js';

@Controller(['v1/models', 'v2/models'])
@UseGuards(CallerGuard)
export class ModelsController {
  constructor(
    private readonly catalog: LiveCatalog,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get()
  @Access({ scope: 'catalog' })
  list(@Calling() caller: Caller, @Query() query: PageQuery): RouterModelListResponse {
    const limit = pageLimit(query);
    const cursor = pageCursor(query);
    const sealing = { secrets: this.settings.SIGNING_SECRET, nowMs: Date.now() };
    const { models, hasMore } = this.catalog.current.page({
      ...(cursor !== undefined && { cursorAfterId: openCursor(cursor, sealing) }),
      limit,
      filter: ({ id }) => maySee(caller, id) && mayRun(caller, id),
    });
    const last = models.at(-1);
    return {
      data: models.map(entry),
      has_more: hasMore,
      ...(hasMore && last !== undefined && { next_cursor: sealCursor(last.id, sealing) }),
      limit,
    };
  }

  @Get(':provider/:model')
  @Access({ scope: 'catalog' })
  detail(
    @Calling() caller: Caller,
    @Param('provider') provider: string,
    @Param('model') model: string,
    @Req() request: FastifyRequest,
  ): RouterModelDetail {
    return detail(visibleModel(this.catalog.current, caller, `${provider}/${model}`), {
      publicBaseUrl: this.settings.PUBLIC_BASE_URL,
      generation: generationOf(request),
    });
  }

  @Get(':provider/:model/openapi.json')
  @Access({ scope: 'catalog' })
  document(
    @Calling() caller: Caller,
    @Param('provider') provider: string,
    @Param('model') model: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    const { bytes, etag } = openApiDocument(
      visibleModel(this.catalog.current, caller, `${provider}/${model}`),
      generationOf(request),
    );
    reply.header('cache-control', 'private, max-age=300, must-revalidate');
    if (sentUnchanged(request, reply, etag)) return;
    void reply.header('content-type', 'application/json; charset=utf-8').send(bytes);
  }
}
