import { runLimits, termsView, WorkspaceRepository } from '#persistence';
import { centsFromMicros, type RouterWorkspace, routerWorkspace } from '#schemas';
import { Controller, Get } from '@nestjs/common';
import { Access, Calling, noCredential } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { answer, ApiRoute, json } from '../http/api-route.js';

@Controller('v2/workspace')
export class WorkspaceController {
  constructor(private readonly workspaces: WorkspaceRepository) {}

  @Get()
  @Access({ scope: 'workspace' })
  @ApiRoute({
    name: 'GetWorkspace',
    area: 'Account',
    summary: 'Get the workspace: its limits, current use and credits',
    description: 'Also lists the scopes of the calling credential.',
    answers: [answer(200, 'The workspace in its current state.', json(routerWorkspace))],
  })
  async read(@Calling() { workspaceId, workspaceName, keyId, scopes }: Caller): Promise<RouterWorkspace> {
    const now = await this.workspaces.standing(workspaceId);
    if (now === null) throw noCredential();
    return {
      id: workspaceId,
      name: workspaceName,
      limits: runLimits(now),
      credits_cents: now.balanceMicros === null ? null : centsFromMicros(now.balanceMicros),
      held_cents: centsFromMicros(now.heldMicros),
      markup: now.markup,
      own_key_fee: now.ownKeyFee,
      reservation: now.reservation,
      ...termsView(now),
      credential: { ...(keyId !== null && { key_id: keyId }), scopes },
    };
  }
}
