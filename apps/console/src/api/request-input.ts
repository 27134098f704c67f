import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import type { Input } from './model-document.ts';

/** The input that a run was submitted with. */
export const requestInputQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['request-input', requestId],
    queryFn: async ({ signal }) =>
      (await (await call(`/v2/requests/${requestId}/input`, { signal })).json()) as Input,
    staleTime: Infinity,
    retry: false,
  });
