import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf, call } from './client.ts';
import { previewQuery, readResult } from './run-result.ts';

/** A run that its workspace shares. The token is the credential. */
export const sharedRunQuery = (token: string) =>
  queryOptions({
    queryKey: ['shared', token],
    queryFn: ({ signal }) => bodyOf(api.GET('/v2/shared/{token}', { params: { path: { token } }, signal })),
    retry: false,
  });

export const sharedInputQuery = (token: string) =>
  queryOptions({
    queryKey: ['shared', token, 'input'],
    queryFn: async ({ signal }) => (await call(`${pathOf(token)}/input`, { signal })).text(),
    staleTime: Infinity,
  });

export const sharedResultQuery = (token: string) =>
  queryOptions({
    queryKey: ['shared', token, 'output'],
    queryFn: async ({ signal }) => readResult(await call(`${pathOf(token)}/output`, { signal })),
    staleTime: Infinity,
  });

export const sharedPreviewQuery = (token: string) => previewQuery(token, `${pathOf(token)}/output`);

/** The samples of a model, as tokens of shared runs. */
export const samplesQuery = (id: string) => {
  const [provider = '', model = ''] = id.split('/');
  return queryOptions({
    queryKey: ['samples', id],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v2/models/{provider}/{model}/samples', { params: { path: { provider, model } }, signal }),
      ),
    staleTime: 60_000,
  });
};

const pathOf = (token: string) => `/v2/shared/${encodeURIComponent(token)}`;

/** Makes or reads the link of a run, or revokes it. */
export function useShare(requestId: string) {
  const queries = useQueryClient();
  const path = { params: { path: { request_id: requestId } } } as const;
  const onSuccess = () =>
    Promise.all([['runs'], ['run', requestId]].map((queryKey) => queries.invalidateQueries({ queryKey })));
  return {
    share: useMutation({
      mutationFn: () => bodyOf(api.PUT('/v2/requests/{request_id}/share', path)),
      onSuccess,
    }),
    revoke: useMutation({
      mutationFn: () => api.DELETE('/v2/requests/{request_id}/share', path),
      onSuccess,
    }),
  };
}
