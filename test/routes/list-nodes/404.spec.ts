import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s answers like an unknown path', async (method) => {
  const answer = await fetch(`${gateway().url}/nodes`, { method });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toEqual({ error: 'not_found', message: expect.any(String) });
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});
