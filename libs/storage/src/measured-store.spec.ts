import { describe, expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import { measuredStore } from './measured-store.js';
import type { AssetStore } from './port.js';
import { StorageError } from './storage-error.js';

const signal = AbortSignal.timeout(10_000);

describe('a measured store', () => {
  const metrics = new Metrics();
  const failing = (error: Error) =>
    measuredStore({ get: () => Promise.reject(error) } as unknown as AssetStore, metrics.storeSeconds);
  const counts = async (): Promise<Record<string, number>> => {
    const { values } = await metrics.storeSeconds.get();
    const counted = values.filter(({ metricName }) => metricName?.endsWith('_count'));
    return Object.fromEntries(counted.map(({ labels, value }) => [`${labels.op} ${labels.result}`, value]));
  };

  it('tells failures of the store from those of who calls it', async () => {
    const given = { mediaType: 'image/png' };
    const store = measuredStore(
      { get: () => Promise.resolve(given) } as unknown as AssetStore,
      metrics.storeSeconds,
    );
    expect(await store.get('a', signal)).toBe(given);
    await expect(failing(new StorageError('unavailable', 'away')).get('a', signal)).rejects.toThrow('away');
    await expect(failing(new StorageError('not_found', 'gone')).get('a', signal)).rejects.toThrow('gone');
    await expect(failing(new Error('aborted')).get('a', signal)).rejects.toThrow('aborted');
    expect(await counts()).toEqual({
      'get ok': 1,
      'get unavailable': 1,
      'get not_found': 1,
      'get cut_short': 1,
    });
  });
});
