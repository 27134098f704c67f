import { describe, expect, it } from '@jest/globals';
import { routerBudgetInput } from '#schemas';
import { v7 } from 'uuid';
import { openRunFixture } from '../testing/run-fixture.js';
import { admissionOf, cancelled, cents, failed, succeeded, type TestProcess } from '../testing/runs.js';

const fixture = await openRunFixture();
const endings = [succeeded, cancelled, failed('provider_error')];

const set = (spaceId: string, name: string, given: object) =>
  fixture.first.budgets.set(spaceId, name, routerBudgetInput.parse({ window: 'day', ...given }), 'test');

const callBy = (attribution: Record<string, string>) => ({
  requestId: v7(),
  route: 'POST /tested',
  origin: 'http://router.example.com',
  attribution,
});

describe('runs of two gateways at once', () => {
  it.each(Array.from({ length: 10 }, (_each, nth) => [nth]))(
    'commit no more than the limit, seed %i',
    async (seed) => {
      const spaceId = await fixture.space();
      await set(spaceId, 'total', { window: 'total', limit_cents: 50 });
      await set(spaceId, 'users', { scope: 'user', limit_cents: 20 });
      await set(spaceId, 'soft', { scope: 'tag:project', kind: 'soft', limit_cents: 5 });
      let state = seed + 1;
      const random = (below: number) => {
        state = (state * 48_271) % 2_147_483_647;
        return state % below;
      };
      const crowd = (process: TestProcess) =>
        Promise.all(
          Array.from({ length: 60 }, async () => {
            const upper = cents(1 + random(4));
            const facts = {
              reservedMicros: upper,
              computedMicros: cents(1),
              call: callBy({ user: `u${random(4)}`, 'tag:project': 'a' }),
            };
            const end = endings[random(3)] ?? cancelled;
            const entry = admissionOf(spaceId, facts);
            const answer = await process.admissions.admitRun(entry);
            if (answer.kind === 'admitted' && random(2) === 0) await process.finish(entry.runId, 0, end);
            return answer.kind;
          }),
        );
      const kinds = (await Promise.all([crowd(fixture.first), crowd(fixture.second)])).flat();
      expect(new Set(kinds)).toEqual(new Set(['admitted', 'refused']));
      const [broken] = await fixture.first.sql<{ windows: number; most: number }>(
        `SELECT count(*) FILTER (WHERE its.reserved_micros <> live OR its.spent_micros <> billed)::integer AS windows,
         max(CASE WHEN name = 'total' THEN its.reserved_micros + its.spent_micros END)::float AS most
       FROM budget JOIN budget_window AS its ON budget_id = budget.id CROSS JOIN LATERAL (
         SELECT coalesce(sum(reserved_micros) FILTER (WHERE stage <> 'completed'), 0) AS live, coalesce(sum(billed_micros), 0) AS billed
         FROM run WHERE its.id = ANY (budget_windows)
       ) AS sums WHERE workspace_id = $1`,
        [spaceId],
      );
      expect(broken?.windows).toBe(0);
      expect(broken?.most).toBeLessThanOrEqual(cents(50));
      const users = await fixture.first.budgets.values(spaceId, 'users', { limit: 9 });
      for (const { spentMicros, reservedMicros } of users)
        expect(spentMicros + reservedMicros).toBeLessThanOrEqual(cents(20));
    },
  );
});
