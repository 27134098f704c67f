import { type Generation, LiveCatalog } from '#catalog';
import { Controller, Get, Post, Put, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { unknownPath } from '../answers/error.filter.js';
import type { Caller } from '../auth/caller.js';
import { Access, Calling } from '../auth/caller.guard.js';
import { generationOf } from '../http/origin.js';
import { ApiExcludeController } from '../http/api-route.js';
import { type ModelSegments, modelNotFound } from './find-model.js';

type VariantRequest = FastifyRequest<{ Params: ModelSegments & { variant: string } }>;

const v1 = 'v1/models/:provider/:model/:variant';
const v2 = 'v2/models/:provider/:model/:variant';
/** Third segments that belong to routes of two-segment ids, so they are not variants. */
const routeWords = {
  v1: new Set(['requests', 'openapi.json']),
  v2: new Set(['requests', 'openapi.json', 'llms.txt', 'cost', 'samples']),
} as const satisfies Record<Generation, ReadonlySet<string>>;

/** Answers ids of three segments with a 404 that suggests the probable id: a variant is part of the model segment. */
@Controller()
@ApiExcludeController(true)
export class VariantPathsController {
  constructor(private readonly catalog: LiveCatalog) {}

  @Get([v1, `${v1}/openapi.json`, v2, `${v2}/openapi.json`, `${v2}/llms.txt`])
  @Access({ scope: 'catalog' })
  read(@Calling() caller: Caller, @Req() request: VariantRequest): never {
    throw this.refusal(caller, request);
  }

  @Get([
    `${v2}/requests/:requestId`,
    `${v2}/requests/:requestId/status`,
    `${v2}/requests/:requestId/status/stream`,
  ])
  @Access({ scope: 'run' })
  readRun(@Calling() caller: Caller, @Req() request: VariantRequest): never {
    throw this.refusal(caller, request);
  }

  @Post([v1, v2, `${v2}/requests`, `${v2}/cost`])
  @Access({ scope: 'run' })
  run(@Calling() caller: Caller, @Req() request: VariantRequest): never {
    throw this.refusal(caller, request);
  }

  @Put(`${v2}/requests/:requestId/cancel`)
  @Access({ scope: 'run' })
  cancel(@Calling() caller: Caller, @Req() request: VariantRequest): never {
    throw this.refusal(caller, request);
  }

  private refusal(caller: Caller, request: VariantRequest) {
    const { provider, model, variant } = request.params;
    if (routeWords[generationOf(request)].has(variant)) return unknownPath();
    return modelNotFound(this.catalog.current, caller, `${provider}/${model}/${variant}`);
  }
}
