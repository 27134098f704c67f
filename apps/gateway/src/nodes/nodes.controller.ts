import { registryNodeList } from '#schemas';
import { Controller, Get, type OnModuleInit, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { noBody } from '../http/replies.js';
import { answer, ApiRoute, json, registryFailure } from '../http/api-route.js';
import type { HeaderName } from '../http/response-headers.js';
import { allowRegistryReaders } from './any-origin.js';
import { NodePages } from './node-pages.js';
import { nodeQuery } from './node-query.js';

const anyOrigin: HeaderName[] = ['Access-Control-Allow-Origin'];

@Controller('nodes')
export class NodesController implements OnModuleInit {
  constructor(
    private readonly pages: NodePages,
    private readonly host: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    allowRegistryReaders(this.host.httpAdapter.getInstance());
  }

  @Get()
  @ApiRoute({
    name: 'listNodes',
    area: 'Registry',
    summary: 'List nodes',
    description:
      'A page of the nodes of all publishers, each with its publisher and its newest active version. Filters combine. Without `sort` the order is by id, and every other order ends in the id, so pages never overlap. Arrays are given as `sort=a&sort=b`, as `sort[]=a&sort[]=b`, or as one value. Pages of any origin may read it.',
    query: nodeQuery,
    answers: [
      answer(200, 'One page; empty behind the last one.', json(registryNodeList), anyOrigin),
      registryFailure(400, 'A parameter has the wrong type, or `sort` names no column.', anyOrigin),
      registryFailure(404, 'Nothing is found at this path, or not with this method.', anyOrigin),
      registryFailure(
        500,
        'The registry cannot be read at the moment, or the address has read too many pages (`rate_limited`).',
        anyOrigin,
      ),
    ],
  })
  async list(
    @Req() { method, url, query, ip }: FastifyRequest<{ Querystring: Record<string, string | string[]> }>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const parsed = this.pages.parse(url, query);
    const body = method === 'HEAD' ? noBody() : await this.pages.page(parsed, ip);
    void reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }
}
