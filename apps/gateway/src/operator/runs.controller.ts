import { SETTINGS } from '#infrastructure';
import {
  OperatorReader,
  operatorRefusalView,
  operatorRunDetailView,
  OperatorRunReader,
  operatorRunView,
  RefusedCallRepository,
} from '#persistence';
import {
  type OperatorRunDetail,
  operatorRunDetail,
  type OperatorRunList,
  operatorRunListResponse,
  routerErrorType,
  routerProviderSegment,
  routerQueueRequestId,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { z } from 'zod';
import { Access } from '../auth/caller.guard.js';
import { listPage, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { foundRun } from '../runs/found-run.js';

const wholeNumber = (max: number, usual: number, description: string) =>
  z
    .string({ error: 'must be an integer' })
    .regex(/^\d{1,9}$/, 'must be an integer')
    .default(String(usual))
    .meta({ type: 'integer', default: usual, description })
    .transform(Number)
    .refine((number) => number >= 1 && number <= max, `must be from 1 to ${max}`);

const runQuery = pageQuery.extend({
  request_id: routerQueueRequestId.optional().meta({
    description:
      'Only the run with this id, or the run that the call with this `X-Service-Request-Id` admitted or joined. No other filter applies. If the call was refused, there is no run, and the response has its `refusal`.',
  }),
  state: z
    .enum(['stuck', 'failed'], 'must be stuck or failed')
    .default('stuck')
    .meta({ description: '`stuck`: live runs that make no progress. `failed`: runs that failed recently.' }),
  after_seconds: wholeNumber(
    86_400,
    600,
    'For stuck runs: how long a run may stay in one stage, in seconds.',
  ),
  hours: wholeNumber(744, 24, 'For failed runs: how many hours to look back.'),
  workspace: z.uuid('must be the id of a workspace').optional().meta({
    description: 'For failed runs: only those of the workspace with this id.',
  }),
  provider: routerProviderSegment
    .optional()
    .meta({ description: 'For failed runs: only those of this provider.' }),
  error_type: routerErrorType
    .optional()
    .meta({ description: 'For failed runs: only those with this error.' }),
});

@Controller('v2/operator/runs')
export class OperatorRunsController {
  constructor(
    private readonly reader: OperatorReader,
    private readonly details: OperatorRunReader,
    private readonly refused: RefusedCallRepository,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorListRuns',
    area: 'Operator',
    summary: 'List runs of all workspaces that may need attention',
    query: runQuery,
    answers: [
      answer(200, 'One page.', json(operatorRunListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or a filter is invalid.'),
    ],
  })
  async list(@Query(new QueryPipe(runQuery)) query: z.output<typeof runQuery>): Promise<OperatorRunList> {
    const page = await listPage(query, query.state, this.settings, {
      read: async (page) => {
        if (query.request_id !== undefined) {
          const found = await this.reader.find(query.request_id);
          return found === null ? [] : [found];
        }
        return query.state === 'stuck'
          ? this.reader.stuck(query.after_seconds, page)
          : this.reader.failed(
              {
                hours: query.hours,
                workspaceId: query.workspace,
                provider: query.provider,
                bucket: query.error_type,
              },
              page,
            );
      },
      placeOf: ({ requestId }) => requestId,
      entryOf: operatorRunView,
    });
    if (query.request_id === undefined || page.data.length > 0) return page;
    const refusal = await this.refused.find(query.request_id);
    return { ...page, ...(refusal && { refusal: operatorRefusalView(refusal) }) };
  }

  @Get(':request_id')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorGetRun',
    area: 'Operator',
    summary: 'Get a run of any workspace, with the provider calls that failed',
    description:
      'By the id of the run, or by the `X-Service-Request-Id` of a call that admitted or joined it. `provider_attempts` and everything else that is stored with the run itself disappear with its result.',
    answers: [
      answer(200, 'The run.', json(operatorRunDetail)),
      failure(404, ['invalid_input'], 'There is no such run, or its records have expired.'),
    ],
  })
  async read(@Param('request_id') id: string): Promise<OperatorRunDetail> {
    const isId = routerQueueRequestId.safeParse(id).success;
    return operatorRunDetailView(foundRun(isId ? await this.details.find(id) : null, id));
  }
}
