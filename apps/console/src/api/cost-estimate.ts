import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { call } from './client.ts';
import type { components } from './openapi.d.ts';
import { type FieldProblem, Problem, type UnknownField, unknownFieldsOf } from './problem.ts';

export type CostEstimate = components['schemas']['RouterCostEstimate'];

/** Debounces typing. */
export const pauseMs = 350;

/** Asks the service what a run with this input would cost, and which fields it would reject. */
export function useCostEstimate(model: string, text: string, isJson: boolean) {
  const [settled] = useDebouncedValue(text, pauseMs);
  const { data, error, isFetching } = useQuery({
    ...costQuery(model, settled),
    enabled: isJson,
    placeholderData: keepPreviousData,
  });
  const problem = error instanceof Problem ? error : undefined;
  const fields: FieldProblem[] = problem?.fields ?? [];
  const unknown: UnknownField[] = (error === null ? data?.unknown : problem?.unknownFields) ?? [];
  const isFinal = !isFetching && settled === text;
  return { estimate: error === null ? data?.estimate : undefined, fields, unknown, isFinal };
}

export const costQuery = (model: string, body: string) =>
  queryOptions({
    queryKey: ['cost', model, body],
    queryFn: async ({ signal }) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await call(`/v2/models/${model}/cost`, { method: 'POST', headers, body, signal });
      return { estimate: (await answer.json()) as CostEstimate, unknown: unknownFieldsOf(answer) };
    },
    gcTime: 60_000,
    retry: false,
  });
