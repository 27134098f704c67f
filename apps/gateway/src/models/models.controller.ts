import { detail, type Generation, LiveCatalog, type Model, oncePerModel } from '#catalog';
import { SETTINGS } from '#infrastructure';
import { routerModelDetail, routerModelInputSchemaDocument } from '#schemas';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { Access, Calling } from '../auth/caller.guard.js';
import { asJson, ifNoneMatch, sentUnchanged } from '../http/replies.js';
import { generationOf } from '../http/origin.js';
import type { HttpSettings } from '../http/settings.js';
import { answer, ApiRoute, json, modelNotFound } from '../http/api-route.js';
import { type ModelSegments, visibleModel } from './find-model.js';
import { ModelDocuments } from './model-documents.js';

@Controller(['v1/models', 'v2/models'])
export class ModelsController {
  private readonly details: Record<Generation, (model: Model) => string>;

  constructor(
    private readonly catalog: LiveCatalog,
    private readonly documents: ModelDocuments,
    @Inject(SETTINGS) { PUBLIC_BASE_URL: publicBaseUrl }: HttpSettings,
  ) {
    const details = (generation: Generation) =>
      oncePerModel((model) => JSON.stringify(detail(model, { publicBaseUrl, generation })));
    this.details = { v1: details('v1'), v2: details('v2') };
  }

  @Get(':provider/:model')
  @asJson
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'GetModel',
    area: 'Catalog',
    summary: 'Get a model',
    description: '`input_schema_url` is present only if the model has an input schema.',
    answers: [answer(200, 'The entry.', json(routerModelDetail)), modelNotFound],
  })
  detail(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Req() request: FastifyRequest,
  ): string {
    return this.details[generationOf(request)](visibleModel(this.catalog.current, caller, segments));
  }

  @Get(':provider/:model/openapi.json')
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'GetModelDocument',
    area: 'Catalog',
    summary: 'Get the schemas of a model',
    description:
      'A standalone OpenAPI document with the schema of the model’s input and, on `/v2`, of its output. Calls are validated with the same schema. Send `If-None-Match` to avoid transferring an unchanged document.',
    headers: ifNoneMatch,
    answers: [
      answer(200, 'The document.', json(routerModelInputSchemaDocument), ['ETag', 'Cache-Control']),
      answer(304, 'The document has not changed.', {}, ['ETag', 'Cache-Control']),
      modelNotFound,
    ],
  })
  document(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    const model = visibleModel(this.catalog.current, caller, segments);
    const { bytes, etag } = this.documents.of(model, generationOf(request));
    reply.header('cache-control', 'private, max-age=300, must-revalidate');
    if (sentUnchanged(request, reply, etag)) return;
    void reply.header('content-type', 'application/json; charset=utf-8').send(bytes);
  }
}
