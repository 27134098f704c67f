import { expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const upload = (caller: Caller, bytes = 100) =>
  caller.call('POST', '/v2/files', { body: Buffer.alloc(bytes, 'x') });

it('a file beyond the workspace’s number is rejected until one is deleted', async () => {
  const { caller } = await gateway().caller({ fileLimit: 2 });
  const answers = await Promise.all([1, 2, 3, 4].map(() => upload(caller)));
  expect(answers.map(({ status }) => String(status)).sort()).toEqual(['201', '201', '429', '429']);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.json()).toEqual({
    detail: expect.stringContaining('limit of 2 files'),
    error_type: 'concurrency_limit_exceeded',
  });
  const id = String(answers.find(({ status }) => status === 201)?.json()['id']);
  expect((await caller.call('DELETE', `/v2/files/${id}`)).status).toBe(204);
  expect((await upload(caller)).status).toBe(201);
});

it('a file that would exceed the workspace’s bytes is rejected', async () => {
  const { caller } = await gateway().caller({ fileBytesLimit: 1000 });
  expect((await upload(caller, 600)).status).toBe(201);
  const refused = await upload(caller, 401);
  expect([refused.status, refused.json()['detail']]).toEqual([429, expect.stringContaining('1000 bytes')]);
  expect((await upload(caller, 400)).status).toBe(201);
});
