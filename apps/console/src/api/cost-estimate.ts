import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { call } from './client.ts';
import type { components } from './openapi.d.ts';
import { type FieldProblem, Problem } from './problem.ts';

export type CostEstimate = components['schemas']['RouterCostEstimate'];

/** Debounces typing. */
const pauseMs = 350;

/** Asks the service what a run with this input would cost, and which fields it would reject. */
export function useCostEstimate(model: string, text: string, isJson: boolean) {
  const [settled] = useDebouncedValue(text, pauseMs);
  const { data, error, isFetching } = useQuery({
    ...costQuery(model, settled),
    enabled: isJson,
    placeholderData: keepPreviousData,
  });
  const fields: FieldProblem[] = error instanceof Problem ? error.fields : [];
  return { estimate: error === null ? data : undefined, fields, isFetching: isFetching || settled !== text };
}

const costQuery = (model: string, body: string) =>
  queryOptions({
    queryKey: ['cost', model, body],
    queryFn: async ({ signal }): Promise<CostEstimate> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await call(`/v2/models/${model}/cost`, { method: 'POST', headers, body, signal });
      return (await answer.json()) as CostEstimate;
    },
    gcTime: 60_000,
    retry: false,
  });
