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
  state: z.enum(webhookStates).optional().meta({ description: 'Only webhooks in this state.' }),
});

/** The calls that tell callers that their runs are completed, and the secret that signs them. */
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
    summary: 'List the webhooks of the workspace',
    description: 'Newest run first, as long as the runs are remembered (8 days by default).',
    query: deliveryQuery,
    answers: [
      answer(200, 'One page.', json(routerWebhookDeliveryListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or there is no such state.'),
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
    summary: 'Have a webhook called once more',
    description: 'With eight tries from now on, whatever became of those before.',
    answers: [
      answer(202, 'It is due.', json(routerWebhookDelivery)),
      failure(404, ['invalid_input'], 'No run of the workspace that has this id has a webhook.'),
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
    summary: 'Read the secret that signs webhooks',
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
    summary: 'Make a new secret',
    description:
      'It signs at once. The one before it signs as well for 24 hours, or until the next rotation: two rotations end a secret that has leaked.',
    answers: [answer(200, 'The new secret.', json(routerWebhookSecret), ['Cache-Control'])],
  })
  async rotateSecret(@Calling() { workspaceId }: Caller): Promise<RouterWebhookSecret> {
    return secretOf(await unlessDeleted(this.workspaces.rotateWebhookSecret(workspaceId)));
  }
}

const secretOf = ({ webhookSecrets: [secret = ''] }: Workspace): RouterWebhookSecret => ({ secret });
