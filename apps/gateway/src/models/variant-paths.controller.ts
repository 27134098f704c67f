import { LiveCatalog } from '#catalog';
import { Controller, Get, Param, Post, Put, UseGuards } from '@nestjs/common';
import { unknownPath } from '../answers/error.filter.js';
import type { Caller } from '../auth/caller.js';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import { ApiExcludeController } from '../reference/api-route.js';
import { type ModelSegments, modelNotFound } from './find-model.js';

interface VariantSegments extends ModelSegments {
  variant: string;
}

const v1 = 'v1/models/:provider/:model/:variant';
const v2 = 'v2/models/:provider/:model/:variant';
/** The last segments of routes with two-segment ids: there they are no variants. */
const routeWords = new Set(['requests', 'openapi.json']);

/** A variant is part of the model segment. Ids of three segments are answered with the id they probably mean. */
@Controller()
@ApiExcludeController(true)
@UseGuards(CallerGuard)
export class VariantPathsController {
  constructor(private readonly catalog: LiveCatalog) {}

  @Get([v1, `${v1}/openapi.json`, v2, `${v2}/openapi.json`])
  @Access({ scope: 'catalog' })
  read(@Calling() caller: Caller, @Param() segments: VariantSegments): never {
    throw this.refusal(caller, segments);
  }

  @Get([`${v2}/requests/:requestId`, `${v2}/requests/:requestId/status`])
  @Access({ scope: 'run' })
  readRun(@Calling() caller: Caller, @Param() segments: VariantSegments): never {
    throw this.refusal(caller, segments);
  }

  @Post([v1, v2, `${v2}/requests`])
  @Access({ scope: 'run' })
  run(@Calling() caller: Caller, @Param() segments: VariantSegments): never {
    throw this.refusal(caller, segments);
  }

  @Put(`${v2}/requests/:requestId/cancel`)
  @Access({ scope: 'run' })
  cancel(@Calling() caller: Caller, @Param() segments: VariantSegments): never {
    throw this.refusal(caller, segments);
  }

  private refusal(caller: Caller, { provider, model, variant }: VariantSegments) {
    if (routeWords.has(variant)) return unknownPath();
    return modelNotFound(this.catalog.current, caller, `${provider}/${model}/${variant}`);
  }
}
