import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { nodeAsk, type Query as NodeQuery } from './node-ask.js';
import { NodePages } from './node-pages.js';

@Controller('nodes')
export class NodesController {
  constructor(private readonly pages: NodePages) {}

  @Get()
  async list(@Query() query: NodeQuery, @Res() reply: FastifyReply): Promise<void> {
    const body = await this.pages.read(nodeAsk(query));
    void reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }
}
