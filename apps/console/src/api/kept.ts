import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from './client.ts';

/** Keeps a run without expiry, or lets it expire again. */
export function useKeep(requestId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (isKept: boolean): Promise<void> => {
      const path = { params: { path: { request_id: requestId } } } as const;
      await (isKept
        ? api.PUT('/v2/requests/{request_id}/kept', path)
        : api.DELETE('/v2/requests/{request_id}/kept', path));
    },
    onSuccess: () =>
      Promise.all(
        [['requests'], ['runs'], ['outputs'], ['run', requestId]].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  });
}
