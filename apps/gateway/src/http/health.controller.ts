import { healthOf } from '#observability';
import { serviceHealth } from '#schemas';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { answer, ApiRoute, json } from './api-route.js';
import { Readiness } from './readiness.js';

const plainText = { 'text/plain': null };

/**
 * Probes. Ready means that the database answers and accepts writes; a gateway can do without everything else for a
 * while.
 */
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get()
  @ApiRoute({
    name: 'getHealth',
    area: 'Service',
    summary: 'Get the version of the service',
    description: 'The readiness of the gateway as JSON, with the version, the git commit and its time.',
    answers: [
      answer(200, 'The gateway is ready.', json(serviceHealth)),
      answer(503, 'The gateway is not ready.', json(serviceHealth)),
    ],
  })
  async health(@Res() reply: FastifyReply): Promise<void> {
    const ready = await this.readiness.ready();
    void reply
      .code(ready === true ? 200 : 503)
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(JSON.stringify(healthOf(ready)));
  }

  @Get('live')
  @ApiRoute({
    name: 'getLiveness',
    area: 'Service',
    summary: 'Check whether the process is alive',
    answers: [answer(200, 'The process is alive.', plainText)],
  })
  live(@Res() reply: FastifyReply): void {
    void reply.header('content-type', 'text/plain; charset=utf-8').send('live\n');
  }

  @Get('ready')
  @ApiRoute({
    name: 'getReadiness',
    area: 'Service',
    summary: 'Check whether the gateway is ready for calls',
    description:
      'Ready means that the database answers and accepts writes, and that the process is not stopping.',
    answers: [
      answer(200, 'The gateway is ready.', plainText),
      answer(503, 'The gateway is not ready.', plainText),
    ],
  })
  async ready(@Res() reply: FastifyReply): Promise<void> {
    const ready = await this.readiness.ready();
    void reply
      .code(ready === true ? 200 : 503)
      .header('content-type', 'text/plain; charset=utf-8')
      .send(ready === true ? 'ready\n' : ready === false ? 'not ready\n' : `not ready: ${ready}\n`);
  }
}
