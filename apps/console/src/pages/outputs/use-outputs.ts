import { useInfiniteQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import type { OutputsSearch } from './search.ts';

export type OutputRun = components['schemas']['RouterRequest'];

const pageSize = 48;

/** Runs that succeeded and whose results are there, newest first. */
export const useOutputs = ({ only, model }: OutputsSearch) =>
  useInfiniteQuery({
    queryKey: ['outputs', only, model],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v2/requests', {
          params: {
            query: {
              outcome: 'succeeded',
              limit: pageSize,
              ...(only === 'kept' && { kept: 'true' as const }),
              ...(model !== undefined && { model }),
              ...(pageParam !== '' && { cursor: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    // Runs before an expired one have expired too. Those that are kept have a view of their own.
    getNextPageParam: ({ data, next_cursor }) =>
      data.at(-1)?.result_available === false ? undefined : next_cursor,
    select: ({ pages, pageParams }) => ({
      pageParams,
      pages: pages.map((page) => ({ data: page.data.filter((run) => run.result_available) })),
    }),
  });
