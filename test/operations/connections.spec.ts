import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, waitFor } from '../harness/index.js';

const most = 40;

describe('connections to Postgres if it is also the transport', () => {
  let system: System;

  beforeAll(async () => {
    system = await System.start({ transport: 'postgres' });
  });
  afterAll(() => system.stop());

  it(`stay at ${most} or fewer for a gateway and a worker under load`, async () => {
    const caller = await system.caller({ inflightLimit: 50 });
    let peak = 0;
    const loaded = new AbortController();
    const counted = (async () => {
      while (!loaded.signal.aborted) {
        const [row] = await system.sql<{ open: number }>(
          `SELECT count(*)::integer AS open FROM pg_stat_activity
           WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> 'oracle'`,
        );
        peak = Math.max(peak, row?.open ?? 0);
        await waitFor(() => true, { withinMs: 1, what: 'a moment' });
      }
    })();
    const runs = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        caller.submit('bfl/flux-2-pro', JSON.stringify({ prompt: `${index}` })),
      ),
    );
    await Promise.all(runs.map((run) => caller.completed(run, 60_000)));
    loaded.abort();
    await counted;
    process.stdout.write(`peak of connections: ${peak}\n`);
    expect(peak).toBeGreaterThan(10);
    expect(peak).toBeLessThanOrEqual(most);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
