import { z } from 'zod';
import { countingPath, type ListedModel, unknownDate, type Vendor } from './vendor.js';

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const ownReply = z.object({
  type: z.literal('error'),
  error: z.object({ type: z.string(), message: z.string() }),
});

const entry = ({ name, title }: ListedModel) => ({
  type: 'model',
  id: name,
  display_name: title,
  created_at: unknownDate.toISOString(),
});

export const anthropic: Vendor = {
  name: 'anthropic',
  serves: 'messages and token counts',
  base: '/anthropic/v1',
  provider: 'anthropic',
  nameOf: ({ id, constants }) => String(constants?.['model'] ?? id.slice(id.indexOf('/') + 1)),
  requestIdHeader: 'request-id',
  paceHeaders: ({ limit, left, resetsAt }) => ({
    'anthropic-ratelimit-requests-limit': String(limit),
    'anthropic-ratelimit-requests-remaining': String(left),
    'anthropic-ratelimit-requests-reset': `${resetsAt.toISOString().slice(0, 19)}Z`,
  }),
  routes: [
    { path: '/messages', serves: ({ upstream }) => upstream['path'] === 'messages' },
    countingPath('/messages/count_tokens'),
  ],
  ownError: (reply) => ownReply.safeParse(reply).data?.error,
  errorBody: ({ status, message, requestId, own }) => ({
    type: 'error',
    error: { type: types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message, ...own },
    request_id: requestId,
  }),
  entry,
  list: (models) => ({
    data: models.map(entry),
    has_more: false,
    first_id: models.at(0)?.name ?? null,
    last_id: models.at(-1)?.name ?? null,
  }),
};
