import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Query } from './node-ask.js';
import { NodePages } from './node-pages.js';

@Controller('nodes')
export class NodesController {
  constructor(private readonly pages: NodePages) {}

  @Get()
  async list(
    @Req() { url, query }: FastifyRequest<{ Querystring: Query }>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const body = await this.pages.read(url, query);
    void reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }
}
