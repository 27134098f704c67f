import { expect, it } from '@jest/globals';
import { renameSync } from 'node:fs';
import path from 'node:path';
import { runAdmin } from '../admin/run-admin.js';
import { provider, row } from '../catalog/own-rows.js';
import {
  eitherTransport,
  failOnLeftovers,
  newTag,
  sharedSystem,
  type Submitted,
  waitFor,
} from '../harness/index.js';

const [transport = 'postgres'] = eitherTransport();
const system = sharedSystem(transport);
/** Inputs above 256 KiB are in the store. */
const words = 'x'.repeat(300_000);

it('a run whose input is gone says so in its attempts, waits minutes for it, and then ends with its own text', async () => {
  const name = 'lost-input';
  await system.serve({
    [`${name}.yaml`]: provider(name, `${system.simulator.url}/fal`, ''),
    [`${name}-paint.yaml`]: row(`${name}/paint`, 'fal-ai/flux/dev', 1_000),
  });
  const caller = await system.caller({}, undefined, ['catalog', 'run', 'requests']);
  const operator = await system.caller({}, undefined, ['operate']);
  const tag = newTag('lost');
  const pausing = (verb: string) => runAdmin(system.env(), 'provider', verb, name);
  const attemptsOf = async ({ requestId }: Submitted) => {
    const answer = await operator.call('GET', `/v2/operator/runs/${requestId}`);
    return (answer.json() as { provider_attempts: { phase: string; reading: string }[] }).provider_attempts;
  };

  expect((await pausing('pause')).error).toBe('');
  const run = await caller.submit(`${name}/paint`, JSON.stringify({ prompt: `[[sim:tag=${tag}]]${words}` }));
  const folder = path.join(system.env()['ASSET_DIR'] ?? '', 'runs', run.requestId);
  renameSync(folder, `${folder}-gone`);
  await pausing('resume');
  const attempt = {
    phase: 'input',
    class: 'not_found',
    reading: expect.stringContaining('could not be read from our store'),
  };
  const noted = (retry: string) =>
    waitFor(
      async () => {
        expect((await attemptsOf(run)).at(-1)).toMatchObject({ ...attempt, retry });
        return true;
      },
      { withinMs: 30_000, what: `an attempt to be noted with ${retry}` },
    );
  await noted('new_submit');
  await system.sql('UPDATE run SET epoch = 100 WHERE id = $1', [run.requestId]);

  expect(await caller.completed(run)).toMatchObject({ error_type: 'internal_error' });
  const collected = await caller.collect(run);
  expect([collected.status, collected.json()]).toMatchObject([
    500,
    { detail: 'The input of this run could not be read.' },
  ]);
  await noted('never');
  expect(await system.provider.ledger(tag)).toEqual([]);
  renameSync(`${folder}-gone`, folder);
});

failOnLeftovers();
