import { LiveCatalog } from '#catalog';
import { routerTask } from '#schemas';
import { Controller, Get, Header, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../auth/caller.js';
import { Access, Calling } from '../auth/caller.guard.js';
import { answer, ApiRoute, failure, modelNotFound } from '../http/api-route.js';
import { readQuery } from '../http/query.pipe.js';
import { type ModelSegments, visibleModel } from '../models/find-model.js';
import { MeasuredModels } from '../models/measured-models.js';
import { ModelDocuments } from '../models/model-documents.js';
import { isListed, ModelServers } from '../models/model-servers.js';
import type { ModelDocument } from '../models/model-summary.js';
import { modelsText, modelText } from './model-texts.js';

const asText = Header('content-type', 'text/plain; charset=utf-8');
const cached = Header('cache-control', 'private, max-age=300');
const text = answer(200, 'The text.', { 'text/plain': null }, ['Cache-Control']);

const taskQuery = z.object({
  task: z
    .enum(routerTask.options, { error: `must be one of ${routerTask.options.join(', ')}` })
    .optional()
    .meta({ description: 'Only models for this task.' }),
});

/** The catalog as plain text for language models. */
@Controller('v2/models')
export class ModelTextsController {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly servers: ModelServers,
    private readonly documents: ModelDocuments,
    private readonly measured: MeasuredModels,
  ) {}

  @Get('llms.txt')
  @asText
  @cached
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'ListModelsAsText',
    area: 'Catalog',
    summary: 'List the models by task, for language models',
    description: 'The models that the caller may see and run, with a link to the text of each.',
    query: taskQuery,
    answers: [text, failure(400, ['invalid_input'], 'There is no such task.')],
  })
  list(@Calling() caller: Caller, @Req() { query, publicOrigin }: FastifyRequest): string {
    const { task } = readQuery(taskQuery, query);
    const { models } = this.catalog.current.page({
      limit: Infinity,
      filter: (model) => isListed(this.servers, caller, model),
    });
    return modelsText(models, publicOrigin, task);
  }

  @Get(':provider/:model/llms.txt')
  @asText
  @cached
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'GetModelAsText',
    area: 'Catalog',
    summary: 'Get a model for language models',
    description: 'What the model takes, with an example, its price, its time and its errors.',
    answers: [text, modelNotFound],
  })
  read(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Req() { publicOrigin }: FastifyRequest,
  ): string {
    const model = visibleModel(this.catalog.current, caller, segments);
    const { bytes } = this.documents.of(model, 'v2');
    const document = JSON.parse(bytes.toString()) as ModelDocument;
    return modelText(model, document, this.measured.of(model.id), publicOrigin);
  }
}
