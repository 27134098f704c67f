import type { Bucket } from '#errors';
import { z } from 'zod';
import {
  type ListedModel,
  unknownDate,
  type Vendor,
  type VendorFailure,
  type VendorRoute,
} from './vendor.js';

/** Codes of OpenAI that differ from the buckets. */
const codes: Partial<Record<Bucket, string>> = {
  unauthorized: 'invalid_api_key',
  insufficient_credits: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  concurrency_limit_exceeded: 'rate_limit_exceeded',
};

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
};

const codeOf = (bucket: Bucket, status?: number): string =>
  codes[status === 429 ? 'rate_limited' : bucket] ?? bucket;

const ownReply = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullish(),
    code: z.union([z.string(), z.number()]).nullish(),
  }),
});

const maxFormBytes = 25 * 1024 * 1024;

const route = (path: string): VendorRoute => ({
  path: `/${path}`,
  serves: ({ upstream }) => upstream['path'] === path,
});

const formRoute = (path: string, ...files: string[]): VendorRoute => ({
  ...route(path),
  form: { files, maxBytes: maxFormBytes },
});

/** The numbers of earlier events are unknown, but typed clients need one. */
const responseError = ({ bucket, message }: VendorFailure) => ({
  type: 'error',
  sequence_number: 0,
  code: codeOf(bucket),
  message,
  param: null,
});

const entry = ({ name }: ListedModel) => ({
  id: name,
  object: 'model',
  created: unknownDate.getTime() / 1000,
  owned_by: 'openai',
});

export const openai: Vendor = {
  name: 'openai',
  serves: 'responses, chat completions, images, speech, transcriptions and embeddings',
  base: '/openai/v1',
  provider: 'openai',
  nameOf: ({ id, constants }) => String(constants?.['model'] ?? id.slice(id.indexOf('/') + 1)),
  requestIdHeader: 'x-request-id',
  paceHeaders: ({ limit, left, resetsInSeconds }) => ({
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(left),
    'x-ratelimit-reset-requests': `${resetsInSeconds}s`,
  }),
  routes: [
    { ...route('responses'), errorEvent: responseError },
    ...['chat/completions', 'images/generations', 'audio/speech', 'embeddings'].map(route),
    formRoute('images/edits', 'image', 'mask'),
    formRoute('audio/transcriptions', 'file'),
  ],
  ownError: (reply) => ownReply.safeParse(reply).data?.error,
  errorBody: ({ status, bucket, message, fields: [field], own }) => ({
    error: {
      message,
      type: types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
      param: field?.name ?? null,
      code: codeOf(bucket, status),
      ...own,
    },
  }),
  entry,
  list: (models) => ({ object: 'list', data: models.map(entry) }),
};
