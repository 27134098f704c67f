import { IANAZone } from 'luxon';
import { describe, expect, it } from '@jest/globals';
import { routerBudgetInput } from '#schemas';
import { openRunFixture } from '../testing/run-fixture.js';

const fixture = await openRunFixture();
const year = 2025;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const isAccepted = (zone: string) =>
  routerBudgetInput.safeParse({ window: 'day', time_zone: zone, limit_cents: 1 }).success;

/** The first moment of a local day, by JavaScript's offsets. */
function startOf(zone: IANAZone, utcMs: number): number {
  const isBefore = (ms: number) => ms + zone.offset(ms) * minuteMs < utcMs;
  let [before, from] = [utcMs - dayMs, utcMs + dayMs];
  if (zone.offset(before) === zone.offset(from)) return utcMs - zone.offset(from) * minuteMs;
  while (from - before > 1000) {
    const middle = before + Math.floor((from - before) / 2000) * 1000;
    if (isBefore(middle)) before = middle;
    else from = middle;
  }
  return from;
}

describe('a day of a budget begins at midnight', () => {
  it('in every time zone that a budget may name, on every day of a year', async () => {
    const known = await fixture.first.sql<{ name: string }>(
      'SELECT name FROM pg_timezone_names UNION SELECT abbrev FROM pg_timezone_abbrevs ORDER BY 1',
    );
    const names = new Set([...known.map(({ name }) => name), ...Intl.supportedValuesOf('timeZone')]);
    const accepted = [...names].filter(isAccepted);
    expect(['ACT', 'BST', 'CST', 'IST', 'pst'].filter(isAccepted)).toEqual([]);
    expect(accepted.length).toBeGreaterThan(400);
    expect(accepted).toEqual(expect.arrayContaining(['CET', 'EET', 'MET', 'WET', 'America/Havana', 'UTC']));
    const wrong: string[] = [];
    let days = 0;
    for (const name of accepted) {
      const found = await fixture.first.sql<{ utc: number; starts: number; ends: number; isOne: boolean }>(
        `SELECT extract(epoch FROM day)::float * 1000 AS utc, extract(epoch FROM noon.starts_at)::float * 1000 AS starts,
           extract(epoch FROM noon.ends_at)::float * 1000 AS ends, (first, last) = (noon, noon) AS "isOne"
         FROM generate_series('${year}-01-01'::timestamp, '${year}-12-31', '1 day') AS local (day),
           budget_bounds('day', $1, (day + interval '12 hours') AT TIME ZONE budget_zone($1)) AS noon,
           budget_bounds('day', $1, noon.starts_at) AS first,
           budget_bounds('day', $1, noon.ends_at - interval '1 second') AS last`,
        [name],
      );
      const zone = IANAZone.create(name);
      const off = found.filter(
        ({ utc, starts, ends, isOne }) =>
          !isOne || starts !== startOf(zone, utc) || ends !== startOf(zone, utc + dayMs),
      );
      days += found.length;
      for (const { utc } of off) wrong.push(`${name} ${new Date(utc).toISOString().slice(0, 10)}`);
    }
    expect(wrong).toEqual([]);
    expect(days).toBe(accepted.length * 365);
  });
});
