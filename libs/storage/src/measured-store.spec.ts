import { describe, expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import { measuredStore } from './measured-store.js';
import { type AssetStore, StorageError } from './port.js';

const signal = AbortSignal.timeout(10_000);

describe('a measured store', () => {
  const metrics = new Metrics();
  const givenBy = (get: () => Promise<unknown>) =>
    measuredStore({ get } as unknown as AssetStore, metrics.storeSeconds).get('a', signal);
  const failing = (error: Error) =>
    givenBy(async () => {
      throw error;
    });
  const counts = async (): Promise<Record<string, number>> => {
    const { values } = await metrics.storeSeconds.get();
    const counted = values.filter(({ metricName }) => metricName?.endsWith('_count'));
    return Object.fromEntries(counted.map(({ labels, value }) => [`${labels.op} ${labels.result}`, value]));
  };

  it('distinguishes failures of the store from failures of its caller', async () => {
    const given = { mediaType: 'image/png' };
    expect(await givenBy(() => Promise.resolve(given))).toBe(given);
    await expect(failing(new StorageError('unavailable', 'away'))).rejects.toThrow('away');
    await expect(failing(new StorageError('not_found', 'gone'))).rejects.toThrow('gone');
    await expect(failing(new Error('aborted'))).rejects.toThrow('aborted');
    expect(await counts()).toEqual({
      'get ok': 1,
      'get unavailable': 1,
      'get not_found': 1,
      'get cut_short': 1,
    });
  });
});
