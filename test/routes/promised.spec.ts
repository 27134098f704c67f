import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { checkout } from '../../apps/local/src/checkout.js';

/** The statuses that the interface names for each router route, by the folder of the route's specs. */
const statuses = {
  'list-models': [200, 400, 401, 403, 503],
  'get-model': [200, 403, 404, 503],
  'run-model': [200, 403, 404, 422, 429, 503, 504],
  'get-openapi': [200, 304, 401, 403, 404, 500, 503],
  'submit-run': [201, 422],
  'collect-run': [200],
  'run-status': [200],
  'cancel-run': [202, 400],
} as const;

/** Where a route's answers are asserted: in its own folder, and where all routes are. */
const folders: Record<keyof typeof statuses, string[]> = {
  'list-models': ['list-models', 'all-routes'],
  'get-model': ['get-model', 'all-routes'],
  'run-model': ['run-model', 'all-routes'],
  // An unknown model is the same on the entry and on its document, and is asserted for both together.
  'get-openapi': ['get-openapi', 'get-model', 'all-routes'],
  'submit-run': ['submit-run'],
  'collect-run': ['collect-run'],
  'run-status': ['run-status'],
  'cancel-run': ['cancel-run'],
};

/** The response headers that the interface names, by the folders that must assert them. */
const headers: [name: string, folder: keyof typeof statuses | 'all-routes'][] = [
  ['x-service-request-id', 'run-model'],
  ['x-service-request-id', 'all-routes'],
  ['x-service-error-type', 'run-model'],
  ['x-service-error-type', 'all-routes'],
  ['etag', 'get-openapi'],
  ['cache-control', 'get-openapi'],
  ['retry-after', 'run-model'],
  ['x-committed-spend-limit', 'run-model'],
  ['x-committed-spend-current', 'run-model'],
  ['x-committed-spend-remaining', 'run-model'],
  ['x-committed-spend-limit', 'submit-run'],
  ['x-committed-spend-current', 'submit-run'],
  ['x-committed-spend-remaining', 'submit-run'],
  ['idempotent-replayed', 'submit-run'],
];

/** The text of a folder's specs, put together. */
function textOf(folder: string): string {
  const place = path.join(checkout, 'test/routes', folder);
  return readdirSync(place)
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => readFileSync(path.join(place, name), 'utf8'))
    .join('\n');
}

describe.each(Object.entries(statuses))('the specs of %s', (route, promised) => {
  it.each([...promised])('assert %i', (status) => {
    const text = folders[route as keyof typeof statuses].map(textOf).join('\n');
    // As the value that is expected, or first in the pair of status and bucket.
    expect(text).toMatch(new RegExp(String.raw`(toBe\(|toEqual\(|\[|=== )\s*${status}\b`));
  });
});

it.each(headers)('the header %s is asserted by name in %s', (name, folder) => {
  expect(textOf(folder)).toMatch(new RegExp(String.raw`headers\.(get|has)\('${name}'\)`));
});

it('has a folder of specs for each router route', () => {
  for (const folder of Object.keys(statuses)) expect(textOf(folder)).toContain('expect(');
});
