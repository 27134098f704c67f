import { SETTINGS } from '#infrastructure';
import { RefusedCallRepository, refusalView } from '#persistence';
import { type Page, routerQueueRequestId, type RouterRefusal, routerRefusalListResponse } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Inject, Query } from '@nestjs/common';
import type { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { listPage, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

const refusalQuery = pageQuery.extend({
  request_id: routerQueueRequestId.optional().meta({
    description: 'Only the call with this `X-Service-Request-Id`.',
  }),
});

@Controller('v2/refusals')
export class RefusalsController {
  constructor(
    private readonly calls: RefusedCallRepository,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'ListRefusals',
    area: 'Account',
    summary: 'List the calls of the workspace that were refused',
    description:
      'Calls for a run, on any route, that answered 402, 422 or 429 and began no run, newest first. A call is listed within seconds. Each is kept for a day, and the newest 1,000 of a workspace. Inputs are not kept. Continue with `next_cursor` while `has_more` is true.',
    query: refusalQuery,
    answers: [
      answer(200, 'One page.', json(routerRefusalListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or a filter is invalid.'),
    ],
  })
  list(
    @Calling() { workspaceId }: Caller,
    @Query(new QueryPipe(refusalQuery)) { request_id: callId, ...query }: z.output<typeof refusalQuery>,
  ): Promise<Page<RouterRefusal>> {
    return listPage(query, 'refusals', this.settings, {
      read: (page) => this.calls.page(workspaceId, callId, page),
      placeOf: (call) => call.callId,
      entryOf: refusalView,
    });
  }
}
