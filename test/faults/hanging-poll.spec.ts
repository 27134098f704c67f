import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { holdToInvariants, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, temporaryFolder, transports } from '../harness/index.js';

/** A time budget that ends before a poll times out. */
const row =
  'id: bfl/brief\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: no\nprice: { usd: 0.01, source: test, date: 2026-11-01 }\nbudget_seconds: 8\n';

describe.each(transports().slice(0, 1))('a poll that hangs, on %s', (transport) => {
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    const directory = temporaryFolder('catalog');
    writeFileSync(path.join(directory, 'brief.yaml'), row);
    system = await System.start({ transport, env: { CATALOG_DIR: directory } });
    caller = await system.caller();
  });
  afterAll(() => system.stop());

  it('ends its run when the time budget ends', async () => {
    const run = await caller.submit('bfl/brief', '{"prompt":"[[sim:hang_poll]]"}');
    expect(await caller.completed(run, 60_000)).toMatchObject({ error_type: 'provider_timeout' });
    const [ended] = await system.sql<{ lateSeconds: number }>(
      `SELECT extract(epoch FROM completed_at - deadline_at)::float AS "lateSeconds" FROM run WHERE id = $1`,
      [run.requestId],
    );
    process.stdout.write(`${ended?.lateSeconds} s after its budget\n`);
    expect(ended?.lateSeconds).toBeLessThan(2);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
