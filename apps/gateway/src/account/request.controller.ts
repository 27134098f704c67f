import { type RequestDetail, RequestReader, RunReader, WebhookRepository } from '#persistence';
import {
  type RouterRequestDetail,
  routerModelInput,
  routerQueueRequestId,
  routerRequestDetail,
} from '#schemas';
import { Controller, Get, Param, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import { answer, ApiRoute, failure, json } from '../reference/api-route.js';
import { Payloads } from '../runs/payloads.js';
import { foundRun } from '../runs/found-run.js';
import { shownDelivery } from './deliveries.controller.js';
import { shownRequest } from './requests.controller.js';

const notFound = failure(
  404,
  ['invalid_input'],
  'No such run of this workspace. Unknown ids and other workspaces’ ids answer alike.',
);

/** One run, whatever its model and whoever admitted it. */
@Controller('v2/requests/:requestId')
@UseGuards(CallerGuard)
export class RequestController {
  constructor(
    private readonly requests: RequestReader,
    private readonly runs: RunReader,
    private readonly webhooks: WebhookRepository,
    private readonly payloads: Payloads,
  ) {}

  @Get()
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'GetRequest',
    area: 'Account',
    summary: 'Read everything that is known of a run',
    description:
      'As it is listed, and what it failed with, how often its submission was tried, how many files were copied, and its webhook. As long as the records are kept (13 months by default); what only the run itself knows is gone with its result.',
    answers: [answer(200, 'The run.', json(routerRequestDetail)), notFound],
  })
  async read(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') requestId: string,
    @Req() request: FastifyRequest,
  ): Promise<RouterRequestDetail> {
    const run = foundRun(isId(requestId) ? await this.requests.find(workspaceId, requestId) : null);
    const [webhook] = await this.webhooks.list({ workspaceId, runId: requestId, limit: 1 });
    return {
      ...shownRequest(run, request.publicOrigin),
      ...details(run),
      ...(webhook && { webhook: shownDelivery(webhook) }),
    };
  }

  @Get('input')
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'GetRequestInput',
    area: 'Account',
    summary: 'Read the input of a run',
    description: 'Byte for byte what its caller sent.',
    answers: [
      answer(200, 'The input.', json(routerModelInput)),
      notFound,
      failure(410, ['invalid_input'], 'The run has aged out, and its input with it.'),
    ],
  })
  async input(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') requestId: string,
    @Req() { method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const withBody = method !== 'HEAD';
    const input = isId(requestId) ? await this.runs.input(workspaceId, requestId, { withBody }) : null;
    await this.payloads.send(reply, foundRun(input));
  }
}

const isId = (text: string): boolean => routerQueueRequestId.safeParse(text).success;

const details = ({ failure, attempts, cancelRequestedAt, assets }: RequestDetail) => ({
  ...(failure && { error_detail: failure.detail }),
  ...(failure?.fields && { error_fields: failure.fields }),
  ...(attempts !== null && { attempts }),
  ...(cancelRequestedAt && { cancel_requested_at: cancelRequestedAt.toISOString() }),
  ...(assets !== null && { asset_count: assets }),
});
