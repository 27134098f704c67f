import { RouterError } from '#errors';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { BodySettings } from './settings.js';

/**
 * Bytes of the large bodies that a gateway holds. A workspace may hold as much as is left free, so there is always room
 * for the next one: alone half of the budget, beside another one a third.
 */
@Injectable()
export class BodyBudget {
  private heldBytes = 0;
  private readonly heldByWorkspace = new Map<string, number>();

  private readonly maxBytes: number;

  constructor(@Inject(SETTINGS) { BODY_BUDGET }: Pick<BodySettings, 'BODY_BUDGET'>) {
    this.maxBytes = BODY_BUDGET;
  }

  /** Counts the bytes; throws a 503 when that would be more than the workspace may hold. */
  take(workspaceId: string, bytes: number): void {
    const held = this.heldByWorkspace.get(workspaceId) ?? 0;
    if (held + bytes > this.maxBytes - this.heldBytes - bytes) throw overloaded();
    this.count(workspaceId, held + bytes, bytes);
  }

  giveBack(workspaceId: string, bytes: number): void {
    if (bytes > 0) this.count(workspaceId, (this.heldByWorkspace.get(workspaceId) ?? 0) - bytes, -bytes);
  }

  private count(workspaceId: string, held: number, change: number): void {
    this.heldBytes += change;
    if (held === 0) this.heldByWorkspace.delete(workspaceId);
    else this.heldByWorkspace.set(workspaceId, held);
  }
}

const overloaded = () =>
  new RouterError('service_unavailable', 'The service is busy with large requests; please retry.', {
    internal: 'the budget for bodies in flight is spent',
  });
