import { nextPrice, pricedAt, type ServerTerms } from '#catalog';
import { WorkspaceRepository } from '#persistence';
import { centsFromMicros, type RouterCostEstimate, wholeMicros } from '#schemas';
import { Controller, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { nameUnknownFields } from '../answers/unknown-fields.js';
import { Access, Calling, noCredential } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyChecker } from '../bodies/body-checker.js';
import type { Servers, Terms } from '../bodies/check-thread.js';
import { BodyReader } from '../bodies/body-reader.js';
import { QueryPipe } from '../http/query.pipe.js';
import type { ModelSegments } from '../models/find-model.js';
import { ModelServers, ownKeyOf } from '../models/model-servers.js';
import { ApiRoute } from '../http/api-route.js';
import { Overshoots } from './overshoots.js';
import { estimateCost, serverQuery } from './run-routes.js';

/** Estimates the price of a run with the same check and the same expression as its admission. */
@Controller('v2/models/:provider/:model/cost')
export class CostController {
  constructor(
    private readonly servers: ModelServers,
    private readonly bodies: BodyReader,
    private readonly checker: BodyChecker,
    private readonly workspaces: WorkspaceRepository,
    private readonly overshoots: Overshoots,
  ) {}

  @Post()
  @HttpCode(200)
  @Access({ scope: 'run' })
  @ApiRoute(estimateCost)
  async estimate(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Query(new QueryPipe(serverQuery)) { model_provider: picked }: z.output<typeof serverQuery>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouterCostEstimate> {
    const { servers } = await this.servers.forRun(caller, segments, picked);
    const { bytes, release } = await this.bodies.readBody(request.raw, caller.workspaceId);
    try {
      const checked = await this.checker.checkBody(caller.workspaceId, servers, bytes);
      const terms = this.overshoots.lifted(servers, checked.terms);
      const [{ price, unknownFields }] = terms;
      const isOwn = ({ server }: ServerTerms) =>
        servers.some(({ id, provider }) => id === server && ownKeyOf(caller, provider) !== undefined);
      const usesOwnKey = isOwn(terms[0]);
      nameUnknownFields(reply, unknownFields);
      const standing = await this.workspaces.standing(caller.workspaceId);
      if (standing === null) throw noCredential();
      const billed = (micros: number) =>
        centsFromMicros(wholeMicros(micros * (usesOwnKey ? standing.ownKeyFee : standing.markup)));
      const centsBy = ([first, ...others]: Terms) => {
        // Another server may take the run if the first one does not.
        const prices = [first, ...others]
          .filter((each) => isOwn(each) === usesOwnKey)
          .map((each) => each.price);
        const most = billed(Math.max(...prices.map(({ upperMicros }) => upperMicros)));
        const likely = billed(
          Math.max(...prices.map(({ likelyMicros, upperMicros }) => likelyMicros ?? upperMicros)),
        );
        return {
          expected_cents: billed(first.price.computedMicros),
          reserved_cents: standing.reservation === 'likely' ? likely : most,
          max_cents: most,
        };
      };
      const from = firstChange(servers);
      const later =
        from === undefined
          ? undefined
          : await this.checker.checkBody(caller.workspaceId, pricedFrom(servers, from), checked.bytes);
      return {
        ...centsBy(terms),
        basis: usesOwnKey ? 'own_key' : price.reported.length > 0 ? 'reported' : price.basis,
        ...(from !== undefined && later && { next: { from, ...centsBy(later.terms) } }),
      };
    } finally {
      release();
    }
  }
}

/** The day of the next announced change of a price. */
const firstChange = (servers: Servers): string | undefined =>
  servers.flatMap((server) => nextPrice(server)?.from ?? []).sort()[0];

const pricedFrom = ([first, ...others]: Servers, day: string): Servers => [
  pricedAt(first, Date.parse(day)),
  ...others.map((each) => pricedAt(each, Date.parse(day))),
];
