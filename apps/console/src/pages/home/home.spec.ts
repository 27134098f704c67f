import { describe, expect, it } from '@jest/globals';
import type { ListedRun } from '../../api/run-list.ts';
import { failuresByError } from './failures-by-error.ts';
import { firstRun } from './first-run.ts';
import { firstDay, spendOf } from './spend-of.ts';

const row = (day: string, cost_cents: number) => ({ day, cost_cents, runs: 1, succeeded: 1 });
const run = (request_id: string, error_type: ListedRun['error_type']) =>
  ({ request_id, error_type }) as ListedRun;

describe('spendOf', () => {
  const nowMs = Date.parse('2026-03-02T10:00:00Z');

  it('sums today, the month, and the pace of the seven days before today', () => {
    const rows = [row('2026-02-22', 700), row('2026-02-23', 70), row('2026-03-01', 7), row('2026-03-02', 5)];
    const spend = spendOf(rows, nowMs);
    expect(spend).toMatchObject({
      today: { cents: 5, runs: 1 },
      month: { cents: 12, runs: 2 },
      centsPerDay: 11,
    });
    expect([spend.days.length, spend.days[0], spend.days.at(-1)]).toEqual([
      31,
      { day: firstDay(nowMs), cents: 0 },
      { day: '2026-03-02', cents: 5 },
    ]);
  });

  it('covers the whole of the longest month', () => {
    expect(firstDay(Date.parse('2026-01-31T23:59:59Z'))).toBe('2026-01-01');
  });
});

it('groups failed runs by their error, most frequent first, with the newest of each', () => {
  const runs = [run('4', 'provider_error'), run('3', 'invalid_input'), run('2', 'invalid_input')];
  expect(failuresByError(runs).map(({ error, runs, newest }) => [error, runs, newest.request_id])).toEqual([
    ['invalid_input', 2, '3'],
    ['provider_error', 1, '4'],
  ]);
});

it('shows a part of the credential, and sends a key and a token as their kind', () => {
  const { shown, full } = firstRun('https://r.example', 'rk_live_0123456789');
  expect(shown).toContain(`-H 'X-API-Key: rk_live_0123…'`);
  expect(shown).not.toContain('456789');
  expect(full).toContain(`-H 'X-API-Key: rk_live_0123456789'`);
  expect(firstRun('https://r.example', 'eyJhbGciOi.J9').full).toContain(
    `-H 'Authorization: Bearer eyJhbGciOi.J9'`,
  );
});
