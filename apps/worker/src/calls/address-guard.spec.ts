import { describe, expect, it } from '@jest/globals';
import { guardedLookup, RefusedAddress } from './address-guard.js';

const look = (name: string, all: boolean) =>
  new Promise<{ error: Error | null; address: unknown }>((resolve) =>
    guardedLookup(name, { all }, (error, address) => resolve({ error, address })),
  );

describe('a guarded lookup', () => {
  it.each([true, false])('refuses a name that points to this machine (all: %s)', async (all) => {
    expect((await look('localhost', all)).error).toBeInstanceOf(RefusedAddress);
  });

  it('answers in the form that was asked for', async () => {
    expect(await look('93.184.216.34', false)).toEqual({ error: null, address: '93.184.216.34' });
    expect(await look('93.184.216.34', true)).toEqual({
      error: null,
      address: [{ address: '93.184.216.34', family: 4 }],
    });
  });

  it('passes on that a name does not exist', async () => {
    const { error } = await look('does-not-exist.invalid', true);
    expect((error as NodeJS.ErrnoException).code).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });
});
