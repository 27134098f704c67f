import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import {
  deliveryDetailView,
  deliveryView,
  maxTestsPerMinute,
  WebhookRepository,
  type Workspace,
  WorkspaceRepository,
} from '#persistence';
import {
  routerQueueRequestId,
  type RouterWebhookDelivery,
  routerWebhookDelivery,
  type RouterWebhookDeliveryDetail,
  routerWebhookDeliveryDetail,
  type Page,
  routerWebhookDeliveryListResponse,
  type RouterWebhookSecret,
  routerWebhookSecret,
  routerWebhookTestInput,
  type WebhookSettings,
  webhookStates,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Header, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, Calling, unlessDeleted } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { listPage, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { webhookAddress } from '../runs/webhook-address.js';

const deliveryQuery = pageQuery.extend({
  state: z.enum(webhookStates).optional().meta({ description: 'Only deliveries in this state.' }),
});

const notFound = failure(404, ['invalid_input'], 'The workspace has no run with this id and a webhook.');

const unknownWebhook = (): RouterError =>
  new RouterError('invalid_input', 'There is no such webhook.', { status: 404 });

/** The webhook deliveries of a workspace, and the secret that signs them. */
@Controller('v2/webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly workspaces: WorkspaceRepository,
    private readonly bodies: BodyReader,
    @Inject(SETTINGS) private readonly settings: SigningSettings & WebhookSettings,
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

  @Get('deliveries/:requestId')
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'GetWebhookDelivery',
    area: 'Account',
    summary: 'Get a webhook delivery with its attempts',
    description:
      'The list entry, plus the body that was sent and the answers of the receiver. Both are deleted when the data of the run is.',
    answers: [answer(200, 'The delivery.', json(routerWebhookDeliveryDetail)), notFound],
  })
  async read(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') runId: string,
  ): Promise<RouterWebhookDeliveryDetail> {
    const isId = routerQueueRequestId.safeParse(runId).success;
    const webhook = isId && (await this.webhooks.find(workspaceId, runId));
    if (webhook) return deliveryDetailView(webhook);
    throw unknownWebhook();
  }

  @Post('test')
  @HttpCode(202)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'TestWebhook',
    area: 'Account',
    summary: 'Send a test event',
    description:
      'Calls the URL once with a `webhook.test` event, signed like every webhook of the workspace. Read the answer from the delivery, usually within two seconds.',
    body: routerWebhookTestInput,
    answers: [
      answer(202, 'The event is due.', json(routerWebhookDelivery)),
      failure(400, ['invalid_input'], 'The body or the URL is invalid.'),
      failure(
        429,
        ['rate_limited'],
        `The workspace has sent ${maxTestsPerMinute} test events within a minute.`,
      ),
    ],
  })
  async test(
    @Calling() { workspaceId }: Caller,
    @Req() request: FastifyRequest,
  ): Promise<RouterWebhookDelivery> {
    const { url } = await this.bodies.readObject(request.raw, workspaceId, routerWebhookTestInput);
    const address = webhookAddress(url, { name: 'url', form: 'standard' }, this.settings);
    const id = await this.webhooks.test(workspaceId, address);
    const webhook = id && (await this.webhooks.find(workspaceId, id));
    if (webhook) return deliveryView(webhook);
    throw new RouterError(
      'rate_limited',
      `The workspace has sent ${maxTestsPerMinute} test events within a minute; wait a minute.`,
    );
  }

  @Post('deliveries/:requestId/redeliver')
  @HttpCode(202)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'RedeliverWebhook',
    area: 'Account',
    summary: 'Deliver a webhook again',
    description: 'Starts up to eight new attempts, whatever the result of the earlier ones.',
    answers: [answer(202, 'The delivery is due.', json(routerWebhookDelivery)), notFound],
  })
  async redeliver(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') runId: string,
  ): Promise<RouterWebhookDelivery> {
    const isKnown =
      routerQueueRequestId.safeParse(runId).success && (await this.webhooks.redeliver(runId, workspaceId));
    const [webhook] = isKnown ? await this.webhooks.list({ workspaceId, runId, limit: 1 }) : [];
    if (webhook) return deliveryView(webhook);
    throw unknownWebhook();
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
