import { expect, it } from '@jest/globals';
import { readSettings } from '#schemas';
import { workerSettings } from './settings.js';

it.each([
  ['ASSET_URL_TTL', 604_800],
  ['RESULT_RETENTION_SECONDS', 315_360_000],
  ['LEDGER_RETENTION_MONTHS', 1200],
  ['STORE_DOUBT_SECONDS', 31_536_000],
] as const)(
  '%s is rejected above %i, beyond which links cannot be signed or dates not stored',
  (name, max) => {
    const { success: isAccepted } = workerSettings[name].safeParse(String(max));
    const { success: isMoreAccepted } = workerSettings[name].safeParse(String(max + 1));
    expect([isAccepted, isMoreAccepted]).toEqual([true, false]);
  },
);

it('rejects a former name on its own, and ignores it next to the new one', () => {
  const shape = { PROVIDER_MAX_PAUSE_MS: workerSettings.PROVIDER_MAX_PAUSE_MS };
  const former = { PROVIDER_LANE_PAUSE_MS: '5' };
  expect(() => readSettings(shape, former)).toThrow(
    'PROVIDER_LANE_PAUSE_MS: is now called PROVIDER_MAX_PAUSE_MS',
  );
  expect(readSettings(shape, { ...former, PROVIDER_MAX_PAUSE_MS: '7' })).toEqual({
    PROVIDER_MAX_PAUSE_MS: 7,
  });
});
