import { RouterError } from '#errors';
import { UsageReader, usageView } from '#persistence';
import { isDimension, type RouterUsageResponse, routerUsageResponse, usageGrouping } from '#schemas';
import { Controller, Get, Query } from '@nestjs/common';
import { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { momentQuery, once, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

const defaultRangeMs = 30 * 24 * 3600 * 1000;
const maxGroups = 10_000;

const usageQuery = z.object({
  group_by: once()
    .default('day')
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(usageGrouping))
    .refine((by) => by.filter(isDimension).length <= 1, 'must have at most one of user and tag:<name>')
    .meta({
      type: 'string',
      default: 'day',
      description:
        'Groups the runs by `day`, `model`, `key`, or several of them, such as `day,model`, and by `user` or the values of one tag, such as `tag:project`.',
    }),
  from: momentQuery('Only runs that finished at or after this time; by default 30 days before `to`.'),
  to: momentQuery('Only runs that finished before this time; by default now.'),
});

@Controller('v2/usage')
export class UsageController {
  constructor(private readonly usage: UsageReader) {}

  @Get()
  @Access({ scope: 'usage' })
  @ApiRoute({
    name: 'GetUsage',
    area: 'Account',
    summary: 'Get the usage and cost of the workspace',
    description:
      'Runs that finished in a time range, grouped by day (UTC), model, key, end user or the values of a tag. Computed from the billing records, which outlive the runs (13 months by default).',
    query: usageQuery,
    answers: [
      answer(200, 'The groups and their total.', json(routerUsageResponse)),
      failure(400, ['invalid_input'], 'A parameter is invalid, or there are too many groups.'),
    ],
  })
  async read(
    @Calling() { workspaceId }: Caller,
    @Query(new QueryPipe(usageQuery)) query: z.output<typeof usageQuery>,
  ): Promise<RouterUsageResponse> {
    const until = query.to ?? new Date();
    const from = query.from ?? new Date(until.getTime() - defaultRangeMs);
    const groups = await this.usage.groups({ workspaceId, from, until }, query.group_by, maxGroups + 1);
    if (groups.length > maxGroups) {
      throw new RouterError(
        'invalid_input',
        `There are more than ${maxGroups} groups; choose a shorter time range.`,
      );
    }
    return {
      from: from.toISOString(),
      to: until.toISOString(),
      group_by: query.group_by,
      ...usageView(groups),
    };
  }
}
