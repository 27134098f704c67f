import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Shares } from '#observability';
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

  constructor(@Inject(SETTINGS) { MAX_CONNECTIONS }: Pick<HttpSettings, 'MAX_CONNECTIONS'>) {
    this.shares = new Shares(MAX_CONNECTIONS);
  }

  /** Counts the call until it ends. Throws `service_unavailable` if the workspace has used up its share. */
  holdConnection(reply: FastifyReply, workspaceId: string): void {
    if (!this.shares.take(workspaceId)) {
      throw new RouterError(
        'service_unavailable',
        'The workspace has too many open connections; retry when one has closed.',
        { internal: 'the workspace has used up its share of held connections' },
      );
    }
    reply.raw.once('close', () => this.shares.giveBack(workspaceId));
  }
}
