import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Metrics } from '#observability';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { HttpSettings } from '../../http/settings.js';
import { WorkspaceShares } from '../../http/workspace-shares.js';

/**
 * Shares long-held connections among workspaces: synchronous runs, status streams, and agents' calls that wait for a
 * run.
 */
@Injectable()
export class HeldShares {
  private readonly shares: WorkspaceShares;

  constructor(
    @Inject(SETTINGS) { MAX_CONNECTIONS }: Pick<HttpSettings, 'MAX_CONNECTIONS'>,
    metrics: Metrics,
  ) {
    const refusals = {
      reason: 'held_calls',
      own: () =>
        new RouterError(
          'concurrency_limit_exceeded',
          'The workspace has too many open connections; retry when one has closed.',
        ),
      others: () =>
        new RouterError('service_unavailable', 'Too many connections are open; retry later.', {
          internal: 'no held connection is left',
        }),
    };
    this.shares = new WorkspaceShares(MAX_CONNECTIONS, refusals, metrics);
  }

  /** Counts the call until it ends. Throws if the workspace has used up its share. */
  holdConnection(reply: FastifyReply, workspaceId: string): void {
    this.shares.take(workspaceId);
    reply.raw.once('close', () => this.shares.giveBack(workspaceId));
  }
}
