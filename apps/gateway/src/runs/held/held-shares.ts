import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { HttpSettings } from '../../http/settings.js';
import { Shares } from '../../http/shares.js';

/**
 * Shares the connections that calls hold for long among workspaces: synchronous runs, streams of states, and agents' calls
 * that wait for a run.
 */
@Injectable()
export class HeldShares {
  private readonly shares: Shares;

  constructor(@Inject(SETTINGS) { MAX_CONNECTIONS }: Pick<HttpSettings, 'MAX_CONNECTIONS'>) {
    this.shares = new Shares(MAX_CONNECTIONS);
  }

  /** Counts the call until it has ended. Throws `service_unavailable` when the share of the workspace is taken. */
  holdConnection(reply: FastifyReply, workspaceId: string): void {
    if (!this.shares.take(workspaceId)) {
      throw new RouterError(
        'service_unavailable',
        'The workspace holds too many connections open; please retry when one has ended.',
        { internal: 'the share of a workspace in held connections is taken' },
      );
    }
    reply.raw.once('close', () => this.shares.giveBack(workspaceId));
  }
}
