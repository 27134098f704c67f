import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { holdToInvariants, type System } from '../../harness/faults.js';
import {
  failOnLeftovers,
  newTag,
  type Submitted,
  transports,
  unending,
  waitFor,
} from '../../harness/index.js';
import { migrateBy, newCaller, startApps, systemOf } from './previous-system.js';
import { previousRelease, Release } from './release.js';

const model = 'bfl/flux-2-pro';

let previous: Release;
beforeAll(async () => {
  previous = await Release.build(previousRelease);
}, 900_000);

describe.each(transports())('the next release on %s', (transport) => {
  let system: System;
  beforeEach(async () => {
    system = await systemOf(previous, transport);
  }, 600_000);
  afterEach(() => system.stop());

  it('takes over live runs of a killed release', async () => {
    const caller = await newCaller(system, previous, 10);
    const apps = await startApps(system, previous);
    const tag = newTag('killed');
    const submitted: Submitted[] = [];
    for (let nth = 0; nth < 30; nth += 1)
      submitted.push(
        await caller.submit(
          model,
          JSON.stringify({ prompt: `${unending} killed ${nth} [[sim:tag=${tag}]]` }),
        ),
      );
    const stages = () =>
      system.sql<{ stage: string; runs: number }>(
        `SELECT stage, count(*)::integer AS runs FROM run WHERE stage <> 'completed' GROUP BY stage ORDER BY stage`,
      );
    await waitFor(
      async () => (await stages()).some(({ stage, runs }) => stage === 'running' && runs === 10),
      {
        withinMs: 60_000,
        what: 'ten runs at the provider',
      },
    );
    for (const app of apps) await system.kill(app);
    const left = await stages();
    process.stdout.write(
      `${transport}: killed with ${left.map(({ stage, runs }) => `${runs} ${stage}`).join(', ')}\n`,
    );
    expect(await migrateBy(Release.current, system)).toMatchObject({ functions: true });
    await startApps(system, Release.current);
    // Waiting runs are submitted as slots become free, so the provider has to finish them repeatedly.
    await waitFor(
      async () => {
        await system.provider.finish(tag);
        return (await stages()).length === 0;
      },
      { withinMs: 180_000, what: 'all runs to end', everyMs: 500 },
    );
    for (const run of submitted) expect((await caller.collect(run)).status).toBe(200);
    await holdToInvariants(system, 60_000);
  }, 600_000);
});

failOnLeftovers();
