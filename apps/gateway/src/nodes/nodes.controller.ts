import { registryNodeList } from '#schemas';
import { Controller, Get, type OnModuleInit, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestPath } from '../answers/request-path.js';
import { answer, ApiRoute, json, registryFailure } from '../http/api-route.js';
import { permit } from '../http/cors.js';
import { noBody } from '../http/replies.js';
import type { HeaderName } from '../http/response-headers.js';
import { NodePages } from './node-pages.js';
import { nodeQuery, parseNodeQuery } from './node-query.js';

const anyOrigin: HeaderName[] = ['Access-Control-Allow-Origin'];

@Controller('nodes')
export class NodesController implements OnModuleInit {
  constructor(
    private readonly pages: NodePages,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Lets pages of any origin read the registry: its answers, its failures and its preflight requests. */
  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onRequest', (request, reply, done) => {
      // A request without a route may also be meant for the registry: another method, or a preflight request.
      if ((request.routeOptions.url ?? requestPath(request.url)) !== '/nodes') return done();
      reply.header('access-control-allow-origin', '*');
      if (request.method !== 'OPTIONS') return done();
      permit(reply, 'GET', '*');
    });
  }

  @Get()
  @ApiRoute({
    name: 'listNodes',
    area: 'Registry',
    summary: 'List nodes',
    description:
      'The nodes of all publishers, each with its publisher and its newest active version. Filters combine. Nodes are ordered by id unless `sort` is given; every other order ends in the id, so pages never overlap. Pass arrays as `sort=a&sort=b`, as `sort[]=a&sort[]=b`, or as one value. Web pages of any origin may call this.',
    query: nodeQuery,
    answers: [
      answer(200, 'One page; empty after the last one.', json(registryNodeList), anyOrigin),
      registryFailure(400, 'A parameter has the wrong type, or `sort` names no column.', anyOrigin),
      registryFailure(404, 'There is no route with this path and method.', anyOrigin),
      registryFailure(
        500,
        'The registry cannot be read at the moment, or the address has read too many pages (`rate_limited`).',
        anyOrigin,
      ),
    ],
  })
  async list(
    @Req() { method, query, ip }: FastifyRequest<{ Querystring: Record<string, string | string[]> }>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const parsed = parseNodeQuery(query);
    const body = method === 'HEAD' ? noBody() : await this.pages.page(parsed, ip);
    void reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }
}
