import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Inject, Injectable } from '@nestjs/common';
import { Shares } from '../http/shares.js';
import type { BodySettings } from './settings.js';

/** Bytes of the large bodies that a gateway holds, shared among workspaces. */
@Injectable()
export class BodyBudget {
  private readonly shares: Shares;

  constructor(@Inject(SETTINGS) { BODY_BUDGET }: Pick<BodySettings, 'BODY_BUDGET'>) {
    this.shares = new Shares(BODY_BUDGET);
  }

  /** Counts the bytes; throws a 503 when that would be more than the workspace may hold. */
  take(workspaceId: string, bytes: number): void {
    if (!this.shares.take(workspaceId, bytes)) throw overloaded();
  }

  giveBack(workspaceId: string, bytes: number): void {
    this.shares.giveBack(workspaceId, bytes);
  }
}

const overloaded = () =>
  new RouterError('service_unavailable', 'The service is busy with large requests; please retry.', {
    internal: 'the budget for bodies in flight is spent',
  });
