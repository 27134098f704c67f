import { RouterError } from '#errors';
import { UsageReader, usageView } from '#persistence';
import { type RouterUsageResponse, routerUsageResponse, usageGroupings } from '#schemas';
import { Controller, Get, Query } from '@nestjs/common';
import { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { momentQuery, once, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

const defaultRangeMs = 30 * 24 * 3600 * 1000;
const maxGroups = 10_000;
const mustBeGroupings = `must be one or more of ${usageGroupings.join(', ')}, separated by commas`;

const usageQuery = z.object({
  group_by: once()
    .default('day')
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(z.enum(usageGroupings, mustBeGroupings)))
    .meta({
      type: 'string',
      default: 'day',
      description: 'What the runs are grouped by: `day`, `model`, `key`, or several, such as `day,model`.',
    }),
  from: momentQuery('The runs that ended at this time or later; by default the 30 days before `to`.'),
  to: momentQuery('The runs that ended before this time; by default now.'),
});

@Controller('v2/usage')
export class UsageController {
  constructor(private readonly usage: UsageReader) {}

  @Get()
  @Access({ scope: 'usage' })
  @ApiRoute({
    name: 'GetUsage',
    area: 'Account',
    summary: 'Read what the workspace used and what it cost',
    description:
      'The runs that ended in a range of time, by day (of UTC), by model or by key. It is read from the records that bills are made of, which outlive the runs (13 months by default).',
    query: usageQuery,
    answers: [
      answer(200, 'The groups and their total.', json(routerUsageResponse)),
      failure(400, ['invalid_input'], 'A parameter has no such value, or there are too many groups.'),
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
        `There are more than ${maxGroups} groups: shorten the range of time.`,
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
