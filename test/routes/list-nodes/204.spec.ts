import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('lets other origins read, and send headers of their own', async () => {
  expect((await fetch(`${gateway().url}/nodes`)).headers.get('access-control-allow-origin')).toBe('*');
  const asked = await fetch(`${gateway().url}/nodes?limit=1`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://frontend.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-anything',
    },
  });
  expect(asked.status).toBe(204);
  expect(asked.headers.get('access-control-allow-origin')).toBe('*');
  expect(asked.headers.get('access-control-allow-methods')).toBe('GET');
  expect(asked.headers.get('access-control-allow-headers')).toBe('*');
});
