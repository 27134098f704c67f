import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer, routerRoutes } from '../generations.js';

const gateway = sharedGateway();

const withoutNames = ({ headers }: Response) =>
  [...headers].filter(
    ([name]) =>
      !['date', 'content-length', 'connection', 'keep-alive'].includes(name) && !name.endsWith('-request-id'),
  );

it.each(routerRoutes.filter(([method]) => method === 'GET'))('HEAD answers like %s %s', async (_, path) => {
  const { workspace } = await gateway().caller();
  const headers = await bearer(workspace.id);
  const [get, head] = await Promise.all(
    ['GET', 'HEAD'].map((method) => fetch(`${gateway().url}${path}`, { method, headers })),
  );
  expect([head?.status, head && withoutNames(head)]).toEqual([get?.status, get && withoutNames(get)]);
  expect(await head?.text()).toBe('');
  await get?.body?.cancel();
});

it('HEAD of a result does not read the result', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const { storedAs } = await gateway().outputBeside(run);
  // The output was never stored, so reading it would fail.
  await gateway().finish(run, { outcome: 'succeeded', mediaType: 'audio/mpeg', body: { storedAs } });
  const path = `/v2/models/${run.model}/requests/${run.requestId}`;
  expect((await caller.call('GET', path)).status).toBe(503);
  const head = await caller.call('HEAD', path);
  const { headers } = head;
  expect([head.status, headers.get('content-type'), headers.get('content-length')]).toEqual([
    200,
    'audio/mpeg',
    null,
  ]);
});
