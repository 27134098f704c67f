import { expect, it } from '@jest/globals';
import { readSettings } from '#schemas';
import { workerSettings } from './settings.js';

it.each([
  ['ASSET_URL_TTL', 604_800],
  ['RESULT_RETENTION_SECONDS', 315_360_000],
  ['LEDGER_RETENTION_MONTHS', 1200],
  ['STORE_DOUBT_SECONDS', 31_536_000],
] as const)(
  '%s is refused where no link can be signed for so long, or no time is so far away: above %i',
  (name, most) => {
    const { success: isTaken } = workerSettings[name].safeParse(String(most));
    const { success: isMoreTaken } = workerSettings[name].safeParse(String(most + 1));
    expect([isTaken, isMoreTaken]).toEqual([true, false]);
  },
);

it('refuses a former name alone, and takes it beside the new one', () => {
  const shape = { PROVIDER_MAX_PAUSE_MS: workerSettings.PROVIDER_MAX_PAUSE_MS };
  const former = { PROVIDER_LANE_PAUSE_MS: '5' };
  expect(() => readSettings(shape, former)).toThrow(
    'PROVIDER_LANE_PAUSE_MS: is now called PROVIDER_MAX_PAUSE_MS',
  );
  expect(readSettings(shape, { ...former, PROVIDER_MAX_PAUSE_MS: '7' })).toEqual({
    PROVIDER_MAX_PAUSE_MS: 7,
  });
});
