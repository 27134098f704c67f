import { describe, expect, it } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { guarded, RefusedAddress } from './address-guard.js';

const look = (addresses: readonly string[], all: boolean) =>
  new Promise<{ error: Error | null; address: unknown }>((resolve) =>
    guarded(() => addresses.map((address): LookupAddress => ({ address, family: isIP(address) })))(
      'name.example',
      { all },
      (error, address) => resolve({ error, address }),
    ),
  );

describe('a guarded lookup', () => {
  it.each([
    [true, ['127.0.0.1']],
    [false, ['127.0.0.1']],
    [true, ['93.184.216.34', '::1']],
    [true, ['93.184.216.34', '10.0.0.1']],
    [true, []],
  ])(
    'refuses a name of which an address is not public, or that has none (all: %s, %p)',
    async (all, found) => {
      expect((await look(found, all)).error).toBeInstanceOf(RefusedAddress);
    },
  );

  it('answers in the form that was asked for', async () => {
    const found = ['93.184.216.34', '2606:4700::1111'];
    expect(await look(found, false)).toEqual({ error: null, address: '93.184.216.34' });
    expect(await look(found, true)).toEqual({
      error: null,
      address: [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    });
  });
});
