import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { deliveryView, WebhookRepository, type Workspace, WorkspaceRepository } from '#persistence';
import {
  routerQueueRequestId,
  type RouterWebhookDelivery,
  routerWebhookDelivery,
  type Page,
  routerWebhookDeliveryListResponse,
  type RouterWebhookSecret,
  routerWebhookSecret,
  webhookStates,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Header, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import { Access, Calling, unlessDeleted } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { listPage, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

const deliveryQuery = pageQuery.extend({
  state: z.enum(webhookStates).optional().meta({ description: 'Only deliveries in this state.' }),
});

/** The webhook deliveries of a workspace, and the secret that signs them. */
@Controller('v2/webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly workspaces: WorkspaceRepository,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get('deliveries')
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'ListWebhookDeliveries',
    area: 'Account',
    summary: 'List the webhook deliveries of the workspace',
    description: 'Newest run first, as long as the runs are kept (8 days by default).',
    query: deliveryQuery,
    answers: [
      answer(200, 'One page.', json(routerWebhookDeliveryListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or `state` is invalid.'),
    ],
  })
  list(
    @Calling() { workspaceId }: Caller,
    @Query(new QueryPipe(deliveryQuery)) { state, ...query }: z.output<typeof deliveryQuery>,
  ): Promise<Page<RouterWebhookDelivery>> {
    return listPage(query, 'deliveries', this.settings, {
      read: (page) => this.webhooks.list({ workspaceId, state, ...page }),
      placeOf: ({ runId }) => runId,
      entryOf: deliveryView,
    });
  }

  @Post('deliveries/:requestId/redeliver')
  @HttpCode(202)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RedeliverWebhook',
    area: 'Account',
    summary: 'Deliver a webhook again',
    description: 'Starts up to eight new attempts, whatever the result of the earlier ones.',
    answers: [
      answer(202, 'The delivery is due.', json(routerWebhookDelivery)),
      failure(404, ['invalid_input'], 'The workspace has no run with this id and a webhook.'),
    ],
  })
  async redeliver(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') runId: string,
  ): Promise<RouterWebhookDelivery> {
    const isKnown =
      routerQueueRequestId.safeParse(runId).success && (await this.webhooks.redeliver(runId, workspaceId));
    const [webhook] = isKnown ? await this.webhooks.list({ workspaceId, runId, limit: 1 }) : [];
    if (webhook) return deliveryView(webhook);
    throw new RouterError('invalid_input', 'There is no such webhook.', { status: 404 });
  }

  @Get('secret')
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'GetWebhookSecret',
    area: 'Account',
    summary: 'Get the secret that signs webhooks',
    answers: [answer(200, 'The secret.', json(routerWebhookSecret), ['Cache-Control'])],
  })
  async showSecret(@Calling() { workspaceId }: Caller): Promise<RouterWebhookSecret> {
    return secretOf(await unlessDeleted(this.workspaces.find(workspaceId)));
  }

  @Post('secret')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RotateWebhookSecret',
    area: 'Account',
    summary: 'Rotate the secret that signs webhooks',
    description:
      'The new secret signs immediately. The previous one also signs for 24 hours, or until the next rotation: rotate twice to retire a leaked secret.',
    answers: [answer(200, 'The new secret.', json(routerWebhookSecret), ['Cache-Control'])],
  })
  async rotateSecret(@Calling() { workspaceId }: Caller): Promise<RouterWebhookSecret> {
    return secretOf(await unlessDeleted(this.workspaces.rotateWebhookSecret(workspaceId)));
  }
}

const secretOf = ({ webhookSecrets: [secret = ''] }: Workspace): RouterWebhookSecret => ({ secret });
