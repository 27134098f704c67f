import { describe, expect, it } from '@jest/globals';
import type { Budget } from '../../api/budgets.ts';
import { isInSight, linesOf } from './usage-budgets.ts';
import { usageBars } from './usage-bars.ts';
import { changeOf } from './usage-sums.ts';
import { barsOf, daysOf, periodBefore } from './usage-range.ts';

const noon = Date.parse('2026-03-15T12:00:00Z');

describe('the range of the usage', () => {
  it('has a bar for each day, or each month of a long range', () => {
    expect(barsOf(daysOf({ range: '7d' }, noon))).toEqual(
      ['09', '10', '11', '12', '13', '14', '15'].map((day) => `2026-03-${day}`),
    );
    const year = barsOf(daysOf({ range: '12m' }, noon));
    expect([year.length, year[0], year.at(-1)]).toEqual([12, '2025-04', '2026-03']);
    expect(barsOf({ from: '2026-03-02', to: '2026-03-01' })).toEqual([]);
  });

  it('is compared with a period of the same length, to the same time of day', () => {
    expect(periodBefore(daysOf({ range: '7d' }, noon), noon)).toEqual({
      from: '2026-03-02T00:00:00.000Z',
      until: '2026-03-08T12:00:00.000Z',
    });
    expect(periodBefore({ from: '2026-03-01', to: '2026-03-02' }, noon)).toEqual({
      from: '2026-02-27T00:00:00.000Z',
      until: '2026-03-01T00:00:00.000Z',
    });
  });

  it.each([
    ['records may be gone', daysOf({ range: '12m' }, noon)],
    ['it is in the future', { from: '2026-04-20', to: '2026-04-21' }],
    ['it ends before it starts', { from: '2026-03-02', to: '2026-02-01' }],
  ])('is compared with nothing if %s', (_, days) => expect(periodBefore(days, noon)).toBeUndefined());
});

it('puts each day of the period before next to its own', () => {
  const row = { model: 'bfl/flux-2-pro', runs: 1, succeeded: 1 };
  const rows = [
    { ...row, day: '2026-03-14', cost_cents: 3 },
    { ...row, day: '2026-03-15', cost_cents: 4 },
    { ...row, day: '2026-03-15', model: 'fal/flux-dev', cost_cents: 2 },
  ];
  const before = { rows: [{ ...row, day: '2026-03-13', cost_cents: 9 }], from: '2026-03-12T00:00:00.000Z' };
  const days = { from: '2026-03-14', to: '2026-03-15' };
  expect(usageBars(rows, days, { measure: 'cost_cents', maxModels: 1 }, before)).toEqual({
    unit: 'day',
    names: ['bfl/flux-2-pro', 'Other models'],
    bars: [
      { start: '2026-03-14', values: { 'bfl/flux-2-pro': 3 }, before: 0 },
      { start: '2026-03-15', values: { 'bfl/flux-2-pro': 4, 'Other models': 2 }, before: 9 },
    ],
    highest: 6,
  });
});

it.each([
  [150, 100, '+50%'],
  [50, 100, '-50%'],
  [100, 100, '0%'],
  [5, 0, undefined],
])('writes the change to %d from %d as %s', (now, before, text) => expect(changeOf(now, before)).toBe(text));

it('draws the budgets of all runs whose window is a bar, if they are in sight', () => {
  const daily: Budget = {
    name: 'daily',
    scope: 'workspace',
    window: 'day',
    time_zone: 'Asia/Tokyo',
    limit_cents: 500,
    kind: 'hard',
    raises: [],
    current: { limit_cents: 900 },
  };
  const monthly: Budget = { ...daily, name: 'monthly', window: 'month', time_zone: 'UTC' };
  const ofUsers: Budget = { ...daily, name: 'users', scope: 'user' };
  const line = { name: 'daily', limitCents: 500, timeZone: 'Asia/Tokyo' };
  expect(linesOf([daily, monthly, ofUsers], 'day')).toEqual([line]);
  expect(linesOf([daily, monthly, ofUsers], 'month')).toMatchObject([
    { name: 'monthly', timeZone: undefined },
  ]);
  expect([isInSight(line, 200), isInSight(line, 100)]).toEqual([true, false]);
});
