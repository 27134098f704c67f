import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Metrics, Shares } from '#observability';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { HttpSettings } from '../../http/settings.js';

/**
 * Shares long-held connections among workspaces: synchronous runs, status streams, and agents' calls that wait for a
 * run.
 */
@Injectable()
export class HeldShares {
  private readonly shares: Shares;

  constructor(
    @Inject(SETTINGS) { MAX_CONNECTIONS }: Pick<HttpSettings, 'MAX_CONNECTIONS'>,
    private readonly metrics: Metrics,
  ) {
    this.shares = new Shares(MAX_CONNECTIONS);
    metrics.refusals.inc({ reason: 'held_calls' }, 0);
  }

  /**
   * Counts the call until it ends. If the workspace has used up its share, it throws a 429 if the workspace's own calls are
   * the reason, and a 503 if those of others are.
   */
  holdConnection(reply: FastifyReply, workspaceId: string): void {
    if (!this.shares.take(workspaceId)) throw this.refusal(workspaceId);
    reply.raw.once('close', () => this.shares.giveBack(workspaceId));
  }

  private refusal(workspaceId: string): RouterError {
    if (!this.shares.holdsMost(workspaceId))
      return new RouterError('service_unavailable', 'Too many connections are open; retry later.', {
        internal: 'no held connection is left',
      });
    this.metrics.refusals.inc({ reason: 'held_calls' });
    return new RouterError(
      'concurrency_limit_exceeded',
      'The workspace has too many open connections; retry when one has closed.',
    );
  }
}
