import { LiveCatalog } from '#catalog';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import {
  CallRepository,
  requestDetailView,
  RequestReader,
  requestView,
  RunReader,
  WebhookRepository,
} from '#persistence';
import {
  attributionOf,
  isUser,
  routerErrorType,
  routerModelId,
  routerModelInput,
  routerQueueRequestId,
  routerQueueStatus,
  type RouterRequest,
  type RouterRequestDetail,
  routerRequestDetail,
  type Page,
  routerRequestListResponse,
  routerRunOutcome,
  stagesOf,
  tagOf,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Delete, Get, HttpCode, Inject, Param, Put, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { nameRun } from '../answers/run-of-call.js';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { listPage, momentQuery, once, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { foundRun } from '../runs/found-run.js';
import { KeptRuns } from '../runs/kept-runs.js';
import { notKept } from '../runs/not-kept.js';
import { RunErasure } from '../runs/run-erasure.js';
import { RunPayloads } from '../runs/run-payloads.js';

const requestQuery = pageQuery.extend({
  request_id: routerQueueRequestId.optional().meta({
    description:
      'Only the run with this id, or the run that the call with this `X-Service-Request-Id` admitted or joined.',
  }),
  model: routerModelId.optional().meta({ description: 'Only runs of this model, by its id or an alias.' }),
  status: routerQueueStatus.optional().meta({ description: 'Only runs in this state.' }),
  outcome: routerRunOutcome.optional().meta({ description: 'Only completed runs with this outcome.' }),
  error_type: routerErrorType.optional().meta({ description: 'Only runs that failed with this error.' }),
  key: z.uuid('must be the id of a key').toLowerCase().optional().meta({
    description: 'Only runs admitted with the key of this id.',
  }),
  tag: once()
    .transform((text, context) => {
      const tag = tagOf(text);
      if (tag !== null) return { [tag[0]]: tag[1] };
      context.addIssue('must be a tag such as project=alpha');
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', description: 'Only runs with this tag, such as `project=alpha`.' }),
  user: once()
    .refine(isUser, 'must be 1 to 128 visible ASCII characters')
    .optional()
    .meta({ description: 'Only runs for this end user, as the `X-Service-User` of the call named it.' }),
  kept: once().pipe(z.literal('true', 'must be true')).optional().meta({
    description: 'Only runs that the workspace keeps without expiry.',
  }),
  shared: once().pipe(z.literal('true', 'must be true')).optional().meta({
    description: 'Only runs that anyone with their link may see.',
  }),
  from: momentQuery('Only runs admitted at or after this time.'),
  to: momentQuery('Only runs admitted before this time.'),
});

const notFound = failure(
  404,
  ['invalid_input'],
  'The workspace has no such run. Ids of other workspaces are treated as unknown.',
);

/** All runs of a workspace, of every model and admitted with any credential. */
@Controller('v2/requests')
export class RequestsController {
  constructor(
    private readonly requests: RequestReader,
    private readonly runs: RunReader,
    private readonly calls: CallRepository,
    private readonly webhooks: WebhookRepository,
    private readonly payloads: RunPayloads,
    private readonly erasure: RunErasure,
    private readonly kept: KeptRuns,
    private readonly catalog: LiveCatalog,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'ListRequests',
    area: 'Account',
    summary: 'List the runs of the workspace',
    description:
      'Live and finished runs, newest first, as long as their records are kept (13 months by default). Filters combine. Continue with `next_cursor` while `has_more` is true. Filters other than times scan back from the newest run, so set `from` and `to` to find rare values faster.',
    query: requestQuery,
    answers: [
      answer(200, 'One page.', json(routerRequestListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or a filter is invalid.'),
    ],
  })
  async list(
    @Calling() caller: Caller,
    @Query(new QueryPipe(requestQuery)) query: z.output<typeof requestQuery>,
    @Req() request: FastifyRequest,
  ): Promise<Page<RouterRequest>> {
    return listPage(query, 'requests', this.settings, {
      read: async (page) => {
        const filter = {
          model: query.model && this.catalog.current.idOf(query.model),
          stages: query.status && stagesOf(query.status),
          outcome: query.outcome,
          bucket: query.error_type,
          keyId: query.key,
          attribution: attributionOf(query.tag ?? {}, query.user) ?? undefined,
          kept: query.kept !== undefined,
          shared: query.shared !== undefined,
          from: query.from,
          until: query.to,
        };
        const { workspaceId } = caller;
        if (query.request_id === undefined) return this.requests.page(workspaceId, filter, page);
        const found = await this.readRun(workspaceId, query.request_id, async (requestId) => {
          const [run] = await this.requests.page(workspaceId, { ...filter, requestId }, page);
          return run ?? null;
        });
        return found === null ? [] : [found];
      },
      placeOf: ({ requestId }) => requestId,
      entryOf: (run) => requestView(run, request.publicOrigin),
    });
  }

  @Get(':requestId')
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'GetRequest',
    area: 'Account',
    summary: 'Get the details of a run',
    description:
      'By the id of the run, or by the `X-Service-Request-Id` of a call that admitted or joined it. The list entry, plus the error, the number of submission attempts, the number of copied files, and the webhook. Available as long as the records are kept (13 months by default). Details that are stored only with the run itself disappear with its result.',
    answers: [answer(200, 'The run.', json(routerRequestDetail), ['X-Service-Run-Id']), notFound],
  })
  async read(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouterRequestDetail> {
    const find = (runId: string) => this.requests.find(workspaceId, runId);
    const run = foundRun(await this.readRun(workspaceId, id, find), id);
    const { requestId: runId } = run;
    nameRun(reply, runId);
    const [webhook] = await this.webhooks.list({ workspaceId, runId, limit: 1 });
    return requestDetailView(run, webhook, request.publicOrigin);
  }

  @Get(':requestId/input')
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'GetRequestInput',
    area: 'Account',
    summary: 'Get the input of a run',
    description: 'Byte for byte as the caller sent it.',
    answers: [
      answer(200, 'The input.', json(routerModelInput), ['X-Service-Run-Id']),
      notFound,
      failure(410, ['invalid_input'], 'The input has aged out together with the run.', {
        headers: ['X-Service-Run-Id'],
      }),
    ],
  })
  async input(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') id: string,
    @Req() { method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const withBody = method !== 'HEAD';
    const found = await this.readRun(workspaceId, id, async (runId) => {
      const input = await this.runs.input(workspaceId, runId, { withBody });
      return input && { runId, input };
    });
    const { runId, input } = foundRun(found, id);
    nameRun(reply, runId);
    await this.payloads.sendOutput(reply, foundRun(input, runId));
  }

  @Put(':requestId/kept')
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'KeepRequest',
    area: 'Account',
    summary: 'Keep the input, the result and the files of a run without expiry',
    description:
      'The result can be collected, and the input read, until the run is deleted or no longer kept. Once the run’s own links have expired, each collection has fresh ones. Kept files count in the workspace’s limits of files. Keeping a kept run has no effect.',
    answers: [
      answer(204, 'The run is kept.', undefined, ['X-Service-Run-Id']),
      notFound,
      failure(
        409,
        ['invalid_input'],
        'The run has not succeeded, or the workspace keeps results for a limited time only.',
        { headers: ['X-Service-Run-Id'] },
      ),
      failure(410, ['invalid_input'], 'The result has aged out.', { headers: ['X-Service-Run-Id'] }),
      failure(
        429,
        ['concurrency_limit_exceeded'],
        'The workspace has reached its limit of files, or of bytes in files.',
        { headers: ['X-Service-Run-Id'] },
      ),
    ],
  })
  async keep(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const found = await this.readRun(workspaceId, id, async (runId) => {
      const kept = await this.kept.keep(workspaceId, runId);
      return kept && { runId, kept };
    });
    const { runId, kept } = foundRun(found, id);
    nameRun(reply, runId);
    const { result, maxAllowed } = kept;
    if (result === 'expired') foundRun('aged_out', runId);
    else if (result !== 'kept') throw notKept({ result, maxAllowed }, runId);
  }

  @Delete(':requestId/kept')
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'UnkeepRequest',
    area: 'Account',
    summary: 'Stop keeping a run',
    description:
      'Its data expires when it would have expired, or at once if that time has passed. Has no effect on a run that is not kept.',
    answers: [answer(204, 'The run is not kept.', undefined, ['X-Service-Run-Id']), notFound],
  })
  async unkeep(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const find = (runId: string) => this.requests.find(workspaceId, runId);
    const { requestId: runId } = foundRun(await this.readRun(workspaceId, id, find), id);
    nameRun(reply, runId);
    await this.kept.unkeep(workspaceId, runId);
  }

  @Delete(':requestId')
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'DeleteRequest',
    area: 'Account',
    summary: 'Delete the input, the output and the files of a run',
    description:
      'The data is gone within a minute, usually when the response arrives: input, output, error, copied files, and what providers answered. The run stays listed with its times and cost, and its bill stays; its result and input answer 410. Files that were uploaded for inputs are separate and stay. Deleting a deleted run has no effect.',
    answers: [
      answer(204, 'The data has been deleted.', undefined, ['X-Service-Run-Id']),
      notFound,
      failure(409, ['invalid_input'], 'The run has not ended. Cancel it first, or wait for its end.', {
        headers: ['X-Service-Run-Id'],
      }),
    ],
  })
  async erase(
    @Calling() { workspaceId, credential }: Caller,
    @Param('requestId') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const found = await this.readRun(workspaceId, id, async (runId) => {
      const result = await this.erasure.eraseRun(workspaceId, runId, credential);
      return result && { runId, result };
    });
    const { runId, result } = foundRun(found, id);
    nameRun(reply, runId);
    if (result === 'live')
      throw new RouterError('invalid_input', 'The run has not ended. Delete it when it has.', {
        status: 409,
      });
  }

  /** Reads a run by its id, or by the id of a call that admitted or joined it. */
  private async readRun<Run>(
    workspaceId: string,
    id: string,
    read: (runId: string) => Promise<Run | null>,
  ): Promise<Run | null> {
    if (!routerQueueRequestId.safeParse(id).success) return null;
    const run = await read(id);
    if (run !== null) return run;
    const runId = await this.calls.runOf(id, workspaceId);
    return runId === null ? null : read(runId);
  }
}
