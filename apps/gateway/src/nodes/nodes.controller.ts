import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NodePages } from './node-pages.js';

@Controller('nodes')
export class NodesController {
  constructor(private readonly pages: NodePages) {}

  @Get()
  async list(@Req() { method, url, query }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const parsed = this.pages.parse(url, query);
    const body = method === 'HEAD' ? undefined : await this.pages.page(parsed);
    void reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }
}
