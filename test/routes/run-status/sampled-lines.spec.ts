import { expect, it } from '@jest/globals';
import { waitFor } from '../../harness/wait-for.js';
import { gatewayForFile } from '../gateways.js';

const sample = 20;
const gateway = gatewayForFile({ LOG_STATUS_POLL_SAMPLE: String(sample) });
const route = '/v2/models/:provider/:model/requests/:requestId/status';

const lines = () =>
  gateway()
    .logs()
    .split('\n')
    .filter((line) => line.includes('"msg":"call"'))
    .map((line) => JSON.parse(line) as { route: string; method: string; status: number; sampled?: number });
const countOf = async (labels: string) => {
  const metrics = await fetch(`${gateway().internalUrl}/metrics`);
  const found = (await metrics.text())
    .split('\n')
    .filter((line) => /^\w*http\w*_request_duration_seconds_count\{/.test(line) && line.includes(labels))
    .filter((line) => line.includes(`route="${route}"`));
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

it('of many successful polls, also of fal clients, few are logged and say how many they stand for; failures always are', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('fal/flux-dev', '{"prompt":"x"}');
  for (let poll = 0; poll < 2 * sample; poll += 1) expect((await caller.status(run)).status).toBe(200);
  for (let poll = 0; poll < sample; poll += 1) {
    const answer = await fetch(`${gateway().url}/fal/proxy`, {
      headers: {
        authorization: `Key ${caller.key}`,
        'x-fal-target-url': `https://queue.fal.run/fal-ai/flux/requests/${run.requestId}/status`,
      },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'IN_QUEUE' }]);
  }
  const unknown = { ...run, requestId: '0198c1a2-0000-7000-8000-000000000001' };
  for (let poll = 0; poll < 3; poll += 1) expect((await caller.status(unknown)).status).toBe(404);
  expect((await caller.collect(run)).status).toBe(202);

  const written = await waitFor(
    () => {
      const all = lines();
      return all.some(({ status }) => status === 202) && all;
    },
    { withinMs: 30_000, what: 'the line of the last call' },
  );
  expect(
    written.filter((line) => line.route === route).map(({ status, sampled }) => [status, sampled]),
  ).toEqual([
    [200, sample],
    [200, sample],
    [200, sample],
    [404, undefined],
    [404, undefined],
    [404, undefined],
  ]);
  expect(await countOf('status_class="2xx"')).toBe(3 * sample);
  expect(await countOf('status_class="4xx"')).toBe(3);
});
