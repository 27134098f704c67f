import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('serves the document with the hash of its bytes as its tag', async () => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('GET', '/v2/models/bfl/flux-2-pro/openapi.json');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('etag')).toBe(`"${createHash('sha256').update(answer.bytes).digest('hex')}"`);
  expect(answer.headers.get('cache-control')).toBe('private, max-age=300, must-revalidate');
  const document = answer.json() as { info: unknown; paths: Record<string, unknown> };
  expect(document.info).toMatchObject({ title: 'bfl/flux-2-pro' });
  expect(Object.keys(document.paths)).toEqual(['/v2/models/bfl/flux-2-pro']);
  expect(document).toHaveProperty('x-service-input-schema-authored', true);
});
