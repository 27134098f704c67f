import type { OperatorQueues } from '#schemas';
import { expect, it } from '@jest/globals';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const waitingIn = ({ runs }: OperatorQueues) => runs.find(({ state }) => state === 'waiting')?.runs ?? 0;

it('shows what waits and for how long, and the running processes', async () => {
  const { caller } = await gateway().caller();
  const operator = await gateway().caller({}, ['operate']);
  const read = async () =>
    (await operator.caller.call('GET', '/v2/operator/queues')).json() as OperatorQueues;
  await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const queues = await waitFor(
    async () => {
      const found = await read();
      return found.processes.length > 0 && found;
    },
    { withinMs: 30_000, what: 'a gateway’s first heartbeat' },
  );
  expect(queues.runs.map(({ state }) => state)).toEqual([
    'parked',
    'waiting',
    'submitting',
    'running',
    'copying',
  ]);
  expect(waitingIn(queues)).toBeGreaterThanOrEqual(1);
  const jobs = queues.transport === 'redis' ? ['poll', 'assets', 'webhooks'] : [];
  expect(queues.queues.map(({ queue }) => queue)).toEqual(['dispatch', ...jobs]);
  expect(queues.processes[0]).toMatchObject({
    app: 'gateway',
    host: expect.any(String),
    pid: expect.any(Number),
    started_at: expect.any(String),
    seen_at: expect.any(String),
    catalog_revision: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
