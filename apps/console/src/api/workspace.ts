import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';

/** The caller's workspace, its limits, and the scopes of the credential. */
export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/workspace', { signal })),
  refetchInterval: 30_000,
});

/** Whether the credential has the scope; undefined until loaded. True if the scopes can't be read: the call decides. */
export function useScope(scope: string): boolean | undefined {
  const { data, isError } = useQuery(workspaceQuery);
  return data?.credential.scopes.includes(scope) ?? (isError || undefined);
}
