import { expect, it } from '@jest/globals';
import { routerBudgetInput } from '#schemas';
import { v7 } from 'uuid';
import type { z } from 'zod';
import { openRunFixture } from '../testing/run-fixture.js';

const fixture = await openRunFixture();

/** Sets a budget of each end user, and returns whether it counts the runs without one. */
async function counts(spaceId: string, given: Partial<z.input<typeof routerBudgetInput>> = {}) {
  const input = routerBudgetInput.parse({ scope: 'user', window: 'day', limit_cents: 9, ...given });
  await fixture.first.budgets.set(spaceId, 'users', input, 'test');
  const [listed] = await fixture.first.budgets.list(spaceId, 'users');
  return listed?.countsNone;
}

/** Admits seven runs of a cent each without an end user, and returns how many were admitted. */
async function admitted(spaceId: string): Promise<number> {
  let count = 0;
  for (let nth = 0; nth < 7; nth += 1)
    if ((await fixture.first.admit(spaceId, { runId: v7() })).kind === 'admitted') count += 1;
  return count;
}

it('a budget of each end user counts the runs without one only if it says so, and remembers it', async () => {
  const spaceId = await fixture.space();
  expect([await counts(spaceId), await counts(spaceId, { limit_cents: 5 })]).toEqual([false, false]);
  expect(await admitted(spaceId)).toBe(7);
  expect(await counts(spaceId, { none: 'counted' })).toBe(true);
  expect(await counts(spaceId, { limit_cents: 5 })).toBe(true);
  expect(await admitted(spaceId)).toBe(5);
  expect(await counts(spaceId, { none: 'uncounted' })).toBe(false);
  expect(await admitted(spaceId)).toBe(7);
});

it('a budget of an earlier release counts them', async () => {
  const spaceId = await fixture.space();
  await fixture.first.sql(
    `INSERT INTO budget (id, workspace_id, name, scope, period, time_zone, limit_micros, hard)
      VALUES ($1, $2, 'older', 'user', 'day', 'UTC', 1, true)`,
    [v7(), spaceId],
  );
  const [older] = await fixture.first.budgets.list(spaceId, 'older');
  expect(older?.countsNone).toBe(true);
});
