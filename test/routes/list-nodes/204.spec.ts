import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['/nodes?limit=1', '/%6eodes?limit=x'])('other origins may read %s', async (spelled) => {
  const answer = await fetch(`${gateway().url}${spelled}`);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});

it('other origins may send custom headers', async () => {
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
