import { predictionModel, replicateBase } from '#schemas';
import type { ListedModel, Vendor } from '../vendor.js';

const titles: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'Unauthenticated',
  402: 'Insufficient credit',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
  410: 'Gone',
  422: 'Input validation failed',
  429: 'Too many requests',
  503: 'Service unavailable',
};

const entry = ({ name, description }: ListedModel) => {
  const [owner, model = owner] = name.split('/');
  return {
    url: `https://replicate.com/${name}`,
    owner,
    name: model,
    description,
    visibility: 'public',
    is_official: true,
    run_count: 0,
    cover_image_url: null,
    default_example: null,
    latest_version: null,
  };
};

const servesAll = () => true;

/** Declares what Replicate shares with other vendors; `PredictionCalls` answers the calls. */
export const replicateApi = {
  name: 'replicate',
  serves: 'predictions',
  base: replicateBase,
  provider: 'replicate',
  nameOf: ({ upstream }) => upstream['version'] ?? predictionModel(upstream) ?? '',
  key: { scheme: 'token' },
  errorType: 'application/problem+json',
  routes: [
    { path: '/models/{owner}/{model}/predictions', serves: servesAll },
    { path: '/predictions', serves: servesAll },
  ],
  errorBody: ({ status, message, fields }) => {
    const invalid = fields.map(({ name, problem, type }) => ({
      type,
      field: name === 'body' ? 'input' : `input.${name}`,
      description: problem,
    }));
    return {
      title: titles[status] ?? 'Internal server error',
      detail: invalid.map(({ field, description }) => `- ${field}: ${description}\n`).join('') || message,
      status,
      ...(invalid.length > 0 && { invalid_fields: invalid }),
    };
  },
  entry,
  list: (models) => ({ next: null, previous: null, results: models.map(entry) }),
} as const satisfies Vendor;
