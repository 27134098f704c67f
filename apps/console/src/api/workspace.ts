import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';

/** The workspace of the caller, its limits and what the credential is good for. */
export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/workspace', { signal })),
  refetchInterval: 30_000,
});

/** Whether the credential has the scope; undefined until that is known. Where it may not read that, it has to be tried. */
export function useScope(scope: string): boolean | undefined {
  const { data, isError } = useQuery(workspaceQuery);
  return data?.credential.scopes.includes(scope) ?? (isError || undefined);
}
