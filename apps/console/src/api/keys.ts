import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type ApiKey = components['schemas']['RouterKey'];
export type NewApiKey = components['schemas']['RouterNewKey'];

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/keys', { signal })),
});
