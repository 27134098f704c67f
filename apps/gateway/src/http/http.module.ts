import { type Log, LOG, Metrics, type Tracing, TRACING } from '#observability';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { checkAnswerHeaders } from '../answers/answer-headers.js';
import { ErrorFilter } from '../answers/error.filter.js';
import { serveFal } from '../compat/fal-calls.js';
import type { CompatSettings } from '../compat/settings.js';
import { HealthModule } from '../health/health.module.js';
import { Readiness } from '../health/readiness.js';
import { InfrastructureModule } from '../infrastructure.module.js';
import { SETTINGS } from '../settings.module.js';
import { recordCalls } from './call-records.js';
import { shareConnections } from './connection-shares.js';
import { closeAnsweredConnections, closeSilentConnections, closeUnreadConnections } from './connections.js';
import { allowOrigins, allowRegistryReaders } from './cors.js';
import { takeOverFromNode } from './expectations.js';
import { lingerAfterEarlyAnswers } from './lingering.js';
import { namePublicOrigin } from './origin.js';
import type { HttpSettings } from './settings.js';

/** What holds for every call, whatever its route: its record, its errors, and the life of its connection. */
@Module({
  imports: [InfrastructureModule, HealthModule],
  providers: [ErrorFilter, { provide: APP_FILTER, useExisting: ErrorFilter }],
})
export class HttpModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(LOG) private readonly log: Log,
    private readonly metrics: Metrics,
    @Inject(TRACING) private readonly tracing: Tracing,
    private readonly readiness: Readiness,
    @Inject(SETTINGS) private readonly settings: HttpSettings & CompatSettings,
  ) {}

  /** Hooks come before the routes, which are registered when every module is initialised. */
  onModuleInit(): void {
    const server: FastifyInstance = this.host.httpAdapter.getInstance();
    recordCalls(server, this.log, this.metrics, this.tracing);
    shareConnections(server, this.settings, this.metrics);
    closeUnreadConnections(server);
    closeSilentConnections(server);
    allowRegistryReaders(server);
    takeOverFromNode(server);
    allowOrigins(server, this.settings.CORS_ALLOWED_ORIGINS);
    leaveBodiesUnread(server);
    lingerAfterEarlyAnswers(server);
    closeAnsweredConnections(server, () => this.readiness.stopping);
    if (this.settings.COMPAT_CLIENTS.includes('fal')) serveFal(server);
    if (this.settings.COMPAT_CLIENTS.includes('comfy')) repeatHeadersForComfy(server);
    namePublicOrigin(server, this.settings.PUBLIC_BASE_URL);
    checkAnswerHeaders(server, this.log);
  }
}

/** Handlers read the bodies they want, after the caller is identified; whatever else arrives is discarded. */
function leaveBodiesUnread(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

const repeated = ['request-id', 'error-type', 'cost-cents', 'model-provider'].map(
  (name) => [`x-service-${name}`, `x-comfy-${name}`] as const,
);

/** The headers of our own once more under the names that Comfy's clients read. */
function repeatHeadersForComfy(server: FastifyInstance): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    for (const [ours, theirs] of repeated) {
      const value = reply.getHeader(ours);
      if (value !== undefined) reply.header(theirs, value);
    }
    done(null, payload);
  });
}
