import { type Workspace, WorkspaceRepository } from '#persistence';
import { type RouterWebhookSecret, routerWebhookSecret } from '#schemas';
import { Controller, Get, Header, HttpCode, Post, UseGuards } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import { answer, ApiRoute, json } from '../reference/api-route.js';

@Controller('v2/webhooks/secret')
@UseGuards(CallerGuard)
export class WebhookSecretController {
  constructor(private readonly workspaces: WorkspaceRepository) {}

  @Get()
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'GetWebhookSecret',
    area: 'Account',
    summary: 'Read the secret that signs webhooks',
    answers: [answer(200, 'The secret.', json(routerWebhookSecret), ['Cache-Control'])],
  })
  async show(@Calling() { workspaceId }: Caller): Promise<RouterWebhookSecret> {
    return shown(await this.workspaces.find(workspaceId));
  }

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RotateWebhookSecret',
    area: 'Account',
    summary: 'Make a new secret',
    description:
      'It signs at once. The one before it signs as well for 24 hours, or until the next rotation: two rotations end a secret that has leaked.',
    answers: [answer(200, 'The new secret.', json(routerWebhookSecret), ['Cache-Control'])],
  })
  async rotate(@Calling() { workspaceId }: Caller): Promise<RouterWebhookSecret> {
    return shown(await this.workspaces.rotateWebhookSecret(workspaceId));
  }
}

const shown = ({ webhookSecrets: [secret = ''] }: Workspace): RouterWebhookSecret => ({ secret });
