import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics, type Tracing, TRACING } from '#observability';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { checkAnswerHeaders } from '../answers/answer-headers.js';
import { ErrorFilter } from '../answers/error.filter.js';
import { RefusedCalls } from '../answers/refused-calls.js';
import { recordCalls } from './call-records.js';
import { shareConnections } from './connection-shares.js';
import { closeAnsweredConnections, closeIdleConnections, closeUnreadConnections } from './connections.js';
import { allowOrigins } from './cors.js';
import { takeOverFromNode } from './expectations.js';
import { HealthController } from './health.controller.js';
import { lingerAfterEarlyAnswers } from './lingering.js';
import { namePublicOrigin } from './origin.js';
import { Readiness } from './readiness.js';
import type { HttpSettings } from './settings.js';

/** Applies to every call, whatever its route: its record, its errors and its connection. */
@Module({
  imports: [InfrastructureModule],
  controllers: [HealthController],
  providers: [RefusedCalls, ErrorFilter, { provide: APP_FILTER, useExisting: ErrorFilter }, Readiness],
  exports: [ErrorFilter, Readiness],
})
export class HttpModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(LOG) private readonly log: Log,
    private readonly metrics: Metrics,
    @Inject(TRACING) private readonly tracing: Tracing,
    private readonly readiness: Readiness,
    @Inject(SETTINGS) private readonly settings: HttpSettings,
  ) {}

  /** Adds the hooks before the routes, which are registered once every module is initialised. */
  onModuleInit(): void {
    const server: FastifyInstance = this.host.httpAdapter.getInstance();
    recordCalls(server, this.log, this.metrics, this.tracing, this.settings.LOG_STATUS_POLL_SAMPLE);
    shareConnections(server, this.settings, this.metrics);
    closeUnreadConnections(server);
    closeIdleConnections(server);
    takeOverFromNode(server);
    allowOrigins(server, this.settings.CORS_ALLOWED_ORIGINS);
    leaveBodiesUnread(server);
    lingerAfterEarlyAnswers(server);
    closeAnsweredConnections(server, () => this.readiness.stopping);
    namePublicOrigin(server, this.settings.PUBLIC_BASE_URL);
    checkAnswerHeaders(server, this.log);
  }
}

/**
 * Keeps the framework from reading bodies. Handlers read those that they need, after the caller is identified; the
 * rest is discarded.
 */
function leaveBodiesUnread(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
}
