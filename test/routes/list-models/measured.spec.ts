import { expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { waitFor } from '../../harness/wait-for.js';
import { gatewayForFile } from '../gateways.js';

const gateway = gatewayForFile(async (databaseUrl) => {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  // The 50th time is 11 s.
  await client.query(
    `INSERT INTO measured_runs (day, model, runs, succeeded, times, workspaces)
      SELECT current_date, model, runs, succeeded, array_fill(0, ARRAY[49]) || succeeded || array_fill(0, ARRAY[50]), $1
      FROM (VALUES ('bfl/flux-2-pro', 1241, 1197), ('bfl/flux-dev', 49, 49)) AS given (model, runs, succeeded)`,
    [[v7(), v7(), v7()]],
  );
  await client.end();
  return {};
});

it('has the measured time and success rate of models with enough runs, rounded', async () => {
  const { caller } = await gateway().caller();
  const measured = async (id: string) => {
    const answer = await caller.call('GET', `/v2/models?view=full&q=${id}`);
    return (answer.json() as { data: { id: string; measured?: object }[] }).data.find(
      (each) => each.id === id,
    )?.measured;
  };
  await waitFor(async () => (await measured('bfl/flux-2-pro')) !== undefined, {
    withinMs: 30_000,
    what: 'the figures',
    everyMs: 300,
  });
  expect(await measured('bfl/flux-2-pro')).toEqual({
    median_seconds: 11,
    success_share: 0.96,
    runs: 1200,
    days: 7,
  });
  expect(await measured('bfl/flux-dev')).toBeUndefined();
  const plain = await caller.call('GET', '/v2/models?q=bfl/flux-2-pro');
  expect(JSON.stringify(plain.json())).not.toContain('measured');
  const text = await caller.call('GET', '/v2/models/bfl/flux-2-pro/llms.txt');
  expect(text.bytes.toString()).toContain(
    'Half of the runs take at most 11 seconds. Of the last 1200 runs (7 days), 96% succeeded.',
  );
});
