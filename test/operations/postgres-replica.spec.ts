import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { roomy } from '../faults/crowd.js';
import { System } from '../harness/faults.js';
import { failOnLeftovers, transports } from '../harness/index.js';
import { migratedDatabase } from '../harness/own-postgres.js';
import { expectLossless } from './loss-under-load.js';
import { startReplicated } from './postgres-replica.js';

describe.each(
  transports().flatMap((transport) =>
    (['is killed', 'falls silent'] as const).map((loss) => ({ transport, loss })),
  ),
)('a Postgres with a synchronous standby, on $transport', ({ transport, loss }) => {
  let postgres: Awaited<ReturnType<typeof startReplicated>>;
  let system: System;

  beforeAll(async () => {
    postgres = await startReplicated();
    const database = await migratedDatabase(postgres.url, () => postgres.stop());
    system = await System.start({ transport, database, gateways: 1, workers: 2 });
  });
  afterAll(() => system.stop());

  it(`loses no run and submits none twice when its primary ${loss} under load and the standby takes over`, async () => {
    const refusals = await expectLossless(system, {
      name: `Postgres' primary ${loss}, on ${transport}`,
      caller: await system.caller(roomy),
      lose: () => postgres.failOver(loss),
    });
    expect(refusals).toBeGreaterThan(0);
  });
});

failOnLeftovers();
