import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type Budget = components['schemas']['RouterBudget'];
export type BudgetInput = components['schemas']['RouterBudgetInput'];

export const budgetsQuery = queryOptions({
  queryKey: ['budgets'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/budgets', { signal })),
  refetchInterval: 10_000,
});

/** The use of a budget by value. */
export const budgetValuesQuery = (name: string) =>
  infiniteQueryOptions({
    queryKey: ['budgets', name],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v2/budgets/{name}/values', {
          params: { path: { name }, query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

export const setBudget = (name: string, body: BudgetInput) =>
  bodyOf(api.PUT('/v2/budgets/{name}', { params: { path: { name } }, body }));

export const deleteBudget = (name: string) =>
  api.DELETE('/v2/budgets/{name}', { params: { path: { name } } });

/** The budget without what its window has used. */
export const inputOf = ({ name: _name, current: _current, ...input }: Budget): BudgetInput => input;
