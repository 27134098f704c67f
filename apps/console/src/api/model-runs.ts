import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';

/** The latest 20 runs of a model in the workspace. */
export const modelRunsQuery = (model: string) =>
  queryOptions({
    queryKey: ['requests', 'of-model', model],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v2/requests', { params: { query: { model, limit: 20 } }, signal })),
  });
