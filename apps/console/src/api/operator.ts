import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components, operations } from './openapi.d.ts';

export type Workspace = components['schemas']['OperatorWorkspace'];
export type WorkspaceChange = components['schemas']['OperatorWorkspaceChange'];
export type OpenedWorkspace = components['schemas']['OperatorOpenedWorkspace'];
export type SignInLink = components['schemas']['RouterSignInLink'];
export type Scope = components['schemas']['RouterKeyInput']['scopes'][number];
export type Provider = components['schemas']['OperatorProvider'];
export type OperatorRun = components['schemas']['OperatorRun'];
export type OperatorRunDetail = components['schemas']['OperatorRunDetail'];
export type Attempt = components['schemas']['OperatorAttempt'];
export type OperatorAction = components['schemas']['OperatorAction'];
export type ActionQuery = NonNullable<operations['v2OperatorListActions']['parameters']['query']>;

const pollMs = 5_000;

export const workspacesQuery = (q: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'workspaces', q],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v2/operator/workspaces', {
          params: { query: { limit: 50, ...(q && { q }), ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: pollMs,
  });

export const providersQuery = queryOptions({
  queryKey: ['operator', 'providers'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/operator/providers', { signal })),
  refetchInterval: pollMs,
});

export const providerQuery = (provider: string) =>
  queryOptions({
    queryKey: ['operator', 'providers', provider],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v2/operator/providers/{provider}', { params: { path: { provider } }, signal })),
    refetchInterval: pollMs,
  });

/** The last calls of a run are written within this time after its outcome. */
const settledMs = 60_000;

/** A run of any workspace, polled until nothing is added to it. */
export const operatorRunQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['operator', 'run', requestId],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v2/operator/runs/{request_id}', { params: { path: { request_id: requestId } }, signal }),
      ),
    refetchInterval: ({ state: { data } }) =>
      Date.parse(data?.completed_at ?? '') < Date.now() - settledMs ? false : pollMs,
  });

export const attemptExamplesQuery = (provider: string) =>
  queryOptions({
    queryKey: ['operator', 'providers', provider, 'attempts'],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v2/operator/providers/{provider}/attempts', { params: { path: { provider } }, signal }),
      ),
    refetchInterval: pollMs,
  });

export const queuesQuery = queryOptions({
  queryKey: ['operator', 'queues'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/operator/queues', { signal })),
  refetchInterval: pollMs,
});

export const operatorRunsQuery = (filter: { state: 'stuck' | 'failed'; provider?: string }) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'runs', filter],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v2/operator/runs', {
          params: { query: { limit: 50, ...filter, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: pollMs,
  });

/** Not polled: new actions would move the entries that are being read. */
export const actionsQuery = (filter: ActionQuery) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'audit', filter],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v2/operator/audit', {
          params: { query: { limit: 50, ...filter, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
