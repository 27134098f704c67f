import { type ModelSegments, runnableModel } from '../models/find-model.js';
import { LiveCatalog } from '#catalog';
import { WorkspaceReader } from '#persistence';
import type { RouterCostEstimate } from '#schemas';
import { Controller, HttpCode, Param, Post, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import { BodyChecker } from '../bodies/body-checker.js';
import { BodyReader } from '../bodies/body-reader.js';
import { ApiRoute } from '../reference/api-route.js';
import { cents } from './cents.js';
import { estimateCost } from './run-routes.js';

/** The price of a run before it is made, by the same check and the same expression as at admission. */
@Controller('v2/models/:provider/:model/cost')
@UseGuards(CallerGuard)
export class CostController {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly bodies: BodyReader,
    private readonly checker: BodyChecker,
    private readonly workspaces: WorkspaceReader,
  ) {}

  @Post()
  @HttpCode(200)
  @Access({ scope: 'run' })
  @ApiRoute(estimateCost)
  async estimate(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Req() request: FastifyRequest,
  ): Promise<RouterCostEstimate> {
    const model = runnableModel(this.catalog.current, caller, segments);
    const { bytes, release } = await this.bodies.read(request.raw, caller.workspaceId);
    try {
      const [{ price }] = (await this.checker.check([model], bytes)).terms;
      const standing = await this.workspaces.standing(caller.workspaceId);
      if (standing === null) throw new Error('the workspace of a caller is gone');
      const billed = (micros: number) => cents(Math.ceil(micros * standing.markup));
      return {
        expected_cents: billed(price.computedMicros),
        reserved_cents: billed(price.upperMicros),
        basis: price.reported.length > 0 ? 'reported' : price.basis,
      };
    } finally {
      release();
    }
  }
}
