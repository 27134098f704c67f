import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components, operations } from './openapi.d.ts';

export type UsageRow = components['schemas']['RouterUsageResponse']['data'][number];

/** The cost and the number of the runs that ended in a time. */
export const usageQuery = (query: NonNullable<operations['v2GetUsage']['parameters']['query']>) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => bodyOf(api.GET('/v2/usage', { params: { query }, signal })),
  });
