import { runLimits, termsView, WorkspaceRepository, type WorkspaceTerms } from '#persistence';
import { centsFromMicros, type RouterWorkspace, routerWorkspace, routerWorkspaceChange } from '#schemas';
import { Controller, Get, Patch, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Access, Calling, noCredential, unlessDeleted } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { Identification } from '../auth/identification.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

@Controller('v2/workspace')
export class WorkspaceController {
  constructor(
    private readonly workspaces: WorkspaceRepository,
    private readonly bodies: BodyReader,
    private readonly identification: Identification,
  ) {}

  @Get()
  @Access({ scope: 'workspace' })
  @ApiRoute({
    name: 'GetWorkspace',
    area: 'Account',
    summary: 'Get the workspace: its limits, current use and credits',
    description: 'Also lists the scopes of the calling credential.',
    answers: [answer(200, 'The workspace in its current state.', json(routerWorkspace))],
  })
  async read(@Calling() caller: Caller): Promise<RouterWorkspace> {
    return this.stateOf(caller);
  }

  @Patch()
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'ChangeWorkspace',
    area: 'Account',
    summary: 'Change what the workspace allows and demands',
    description: 'Applies all changes or none. The change and the caller are recorded.',
    body: routerWorkspaceChange,
    answers: [
      answer(200, 'The workspace in its current state.', json(routerWorkspace)),
      failure(400, ['invalid_input'], 'The body is malformed.'),
    ],
  })
  async change(@Calling() caller: Caller, @Req() request: FastifyRequest): Promise<RouterWorkspace> {
    const { workspaceId, credential } = caller;
    const change = await this.bodies.readObject(request.raw, workspaceId, routerWorkspaceChange);
    await unlessDeleted(this.workspaces.changeTerms(workspaceId, termsOf(change), credential));
    // Other gateways hear of it from the database.
    this.identification.forget(workspaceId);
    return this.stateOf(caller);
  }

  private async stateOf({ workspaceId, workspaceName, keyId, scopes }: Caller): Promise<RouterWorkspace> {
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

const termsOf = (change: z.output<typeof routerWorkspaceChange>): Partial<WorkspaceTerms> => ({
  ...(change.allow_samples !== undefined && { allowSamples: change.allow_samples }),
  ...(change.allow_provider_tools !== undefined && { allowProviderTools: change.allow_provider_tools }),
  ...(change.required_tags && { requiredTags: change.required_tags }),
  ...(change.requires_user !== undefined && { requiresUser: change.requires_user }),
});
