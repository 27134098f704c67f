import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Readiness } from './readiness.js';

/** Probes. Ready means that the database answers: everything else a gateway can do without for a while. */
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  live(@Res() reply: FastifyReply): void {
    void reply.header('content-type', 'text/plain; charset=utf-8').send('live\n');
  }

  @Get('ready')
  async ready(@Res() reply: FastifyReply): Promise<void> {
    const ready = await this.readiness.ready();
    void reply
      .code(ready === true ? 200 : 503)
      .header('content-type', 'text/plain; charset=utf-8')
      .send(ready === true ? 'ready\n' : ready === false ? 'not ready\n' : `not ready: ${ready}\n`);
  }
}
