import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, temporaryFolder, transports, waitFor } from '../harness/index.js';

/** An operator's row that costs 30 cents per call, whatever the input. */
const dearRow =
  'id: bfl/dear\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: no\nprice: { usd: 0.3 }\n';
const limitCents = 500;
const affordable = Math.floor(limitCents / 30);
const calls = 1_000;

describe.each(transports().slice(0, 1))('a budget of $5 under 1,000 calls at once, on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    const directory = temporaryFolder('catalog');
    writeFileSync(path.join(directory, 'dear.yaml'), dearRow);
    system = await System.start({ transport, gateways: 4, workers: 2, env: { CATALOG_DIR: directory } });
  });
  afterAll(() => system.stop());

  it('is never exceeded while gateways and a worker are killed, and its counters are the sums over its runs', async () => {
    const limits = { inflightLimit: 10, backlogLimit: calls, windowLimit: 100_000 };
    const caller = await system.caller(limits, undefined, ['run', 'requests', 'manage']);
    for (const scope of ['workspace', 'user']) {
      const body = JSON.stringify({ scope, window: 'total', limit_cents: limitCents });
      expect((await caller.call('PUT', `/v2/budgets/${scope}`, { body })).status).toBe(200);
    }
    const mostOf = async () => {
      const [row] = await system.sql<{ micros: number }>(
        `SELECT coalesce(max(reserved_micros + spent_micros), 0)::float AS micros FROM budget_window`,
      );
      return (row?.micros ?? 0) / 10_000;
    };
    const gateways = [...system.gateways];
    const doomed = gateways.slice(2);
    let answered = 0;
    let most = 0;
    const submits = Promise.all(
      Array.from({ length: calls }, async (_each, nth) => {
        const url = `${(gateways[nth % gateways.length] as App).url}/v2/models/bfl/dear/requests`;
        const body = JSON.stringify({ prompt: `${nth}` });
        const [answer] = await Promise.allSettled([caller.call('POST', url, { body, withinMs: 90_000 })]);
        answered += 1;
        return answer.status === 'rejected' ? 'lost' : String(answer.value.status);
      }),
    );
    for (const [share, app] of [
      [0.02, system.workers[0] as App],
      [0.05, doomed[0] as App],
      [0.3, doomed[1] as App],
    ] as const) {
      await waitFor(() => answered >= share * calls, { withinMs: 60_000, what: 'answers', everyMs: 5 });
      most = Math.max(most, await mostOf());
      await system.kill(app);
    }
    const statuses = new Set(await submits);
    most = Math.max(most, await mostOf());
    await system.ended(caller);
    const [runs] = await system.sql<{ count: number; cents: number }>(
      `SELECT count(*)::integer AS count, sum(reserved_micros)::float / 10000 AS cents FROM run WHERE workspace_id = $1`,
      [caller.workspaceId],
    );
    const { spent_cents: spent, reserved_cents: reserved } = (
      await caller.call('GET', '/v2/budgets/workspace')
    ).json()['current'] as { spent_cents: number; reserved_cents: number };
    process.stdout.write(
      `${calls} calls of 30 cents, of which ${runs?.count} were admitted; at most ${most} cents committed, ${spent} spent (${transport})\n`,
    );
    expect([...statuses].toSorted()).toEqual(expect.arrayContaining(['201', '402']));
    expect(most).toBeLessThanOrEqual(limitCents);
    expect(spent).toBeLessThanOrEqual(limitCents);
    expect(reserved).toBe(0);
    expect(runs?.count).toBeGreaterThanOrEqual(affordable);
    await holdToInvariants(system, 60_000);
  });
});

failOnLeftovers();
