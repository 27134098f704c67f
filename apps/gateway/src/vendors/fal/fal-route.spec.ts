import { expect, it } from '@jest/globals';
import { falRoute } from './fal-route.js';

const id = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

it.each([
  ['https://fal.run/fal-ai/flux/dev', '/v2/models/fal-ai/flux%2Fdev'],
  ['https://fal.run/bfl/flux-2-pro', '/v2/models/bfl/flux-2-pro'],
  ['https://queue.fal.run/fal-ai/flux/dev', '/v2/models/fal-ai/flux%2Fdev/requests'],
  [
    'https://queue.fal.run/fal-ai/flux/dev?fal_webhook=https%3A%2F%2Fa.example',
    '/v2/models/fal-ai/flux%2Fdev/requests?fal_webhook=https%3A%2F%2Fa.example',
  ],
  [
    `https://queue.fal.run/fal-ai/flux/requests/${id}/status?logs=1`,
    `/v2/models/fal-ai/flux/requests/${id}/status?logs=1`,
  ],
  [`https://queue.fal.run/fal-ai/flux/requests/${id}`, `/v2/models/fal-ai/flux/requests/${id}`],
  [
    `https://queue.fal.run/fal-ai/flux/requests/${id}/status/stream`,
    `/v2/models/fal-ai/flux/requests/${id}/status/stream`,
  ],
  ['https://rest.fal.ai/storage/upload/initiate?storage_type=fal-cdn-v3', '/v2/fal/uploads'],
])('%s maps to %s', (target, route) => {
  expect(falRoute(target)).toBe(route);
});

it.each([
  '',
  'fal.run/fal-ai/flux',
  'http://fal.run/fal-ai/flux',
  'https://fal.run',
  'https://fal.run.example.com/fal-ai/flux',
  'https://fal.run:444/fal-ai/flux',
  'https://169.254.169.254/latest',
  'https://rest.fal.ai/tokens/',
  'file:///etc/passwd',
])('%j maps to no route', (target) => {
  expect(falRoute(target)).toBe('/v2/fal');
});
