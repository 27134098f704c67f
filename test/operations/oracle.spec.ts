import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, transports } from '../harness/index.js';

/** A check that cannot fail proves nothing, so each rule is broken once on purpose and restored. */
describe('holdToInvariants', () => {
  let system: System;
  let run: Submitted;

  beforeAll(async () => {
    system = await System.start({ transport: transports()[0] ?? 'postgres' });
    const caller = await system.caller();
    run = await caller.submit('bfl/flux-2-pro', '{"prompt":"held to every rule"}');
    await caller.completed(run);
  });
  afterAll(() => system.stop());

  it('passes for a run that succeeded', async () => {
    await holdToInvariants(system);
  });

  it.each([
    {
      rule: 'I1 1 runs, 0 audit records',
      planted: 'a missing audit record',
      plant: 'UPDATE audit_record SET run_id = workspace_id WHERE run_id = $1',
      repair: 'UPDATE audit_record SET run_id = $1 WHERE run_id = workspace_id',
    },
    {
      rule: 'I3 inflight of',
      planted: 'a counter that drifted',
      plant: 'UPDATE workspace SET inflight = inflight + 1 WHERE $1::uuid IS NOT NULL',
      repair: 'UPDATE workspace SET inflight = inflight - 1 WHERE $1::uuid IS NOT NULL',
    },
    {
      rule: 'I3 workspace',
      planted: 'a ledger entry without a billed run',
      plant: `INSERT INTO ledger_entry (workspace_id, run_id, amount_micros, note)
        SELECT workspace_id, workspace_id, -5, 'planted' FROM run WHERE id = $1`,
      repair: `DELETE FROM ledger_entry WHERE note = 'planted' AND $1::uuid IS NOT NULL`,
    },
    {
      rule: 'I4 the result of',
      planted: 'a changed byte in a result',
      plant: `UPDATE payload SET body = set_byte(body, 0, 32) WHERE run_id = $1 AND kind = 'output'`,
      repair: `UPDATE payload SET body = set_byte(body, 0, 123) WHERE run_id = $1 AND kind = 'output'`,
    },
  ])('names "$rule" for $planted', async ({ rule, plant, repair }) => {
    await system.sql(plant, [run.requestId]);
    expect(await brokenRules()).toEqual([expect.stringContaining(rule)]);
    await system.sql(repair, [run.requestId]);
    expect(await brokenRules()).toEqual([]);
  });

  // Last, because the provider's ledger cannot be undone.
  it('names I2 for a second submission of the same bytes', async () => {
    const second = await fetch(`${system.simulator.url}/bfl/v1/flux-2-pro`, {
      method: 'POST',
      headers: { 'x-key': 'planted', 'content-type': 'application/json' },
      body: run.body,
      signal: AbortSignal.timeout(20_000),
    });
    expect(second.status).toBe(200);
    expect(await brokenRules()).toEqual([
      expect.stringContaining('I2 2 accepted submissions for 1 dispatched runs'),
    ]);
  });

  async function brokenRules(): Promise<string[]> {
    const [held] = await Promise.allSettled([holdToInvariants(system)]);
    if (held.status === 'fulfilled') return [];
    const [, ...rules] = (held.reason as Error).message.split('\n');
    return rules;
  }
});

failOnLeftovers();
