import { describe, expect, it } from '@jest/globals';
import { seal, unseal } from './sealed.js';

const [secret, older, other] = ['new', 'old', 'other'].map((name) => name.padEnd(32, '.')) as [
  string,
  string,
  string,
];
const message = Buffer.from('{"outcome":"succeeded"}\n\u0000');

describe('sealed messages', () => {
  it('can be opened for the purpose that they were sealed for, with either secret during a rotation', () => {
    expect(unseal([secret], 'run 1', seal(secret, 'run 1', message))).toEqual(message);
    expect(unseal([secret, older], 'run 1', seal(older, 'run 1', message))).toEqual(message);
    expect(unseal([secret], 'run 1', seal(secret, 'run 1', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it('cannot be opened for another purpose or with another secret', () => {
    expect(unseal([secret], 'run 2', seal(secret, 'run 1', message))).toBeNull();
    expect(unseal([other, older], 'run 1', seal(secret, 'run 1', message))).toBeNull();
    expect(unseal([], 'run 1', seal(secret, 'run 1', message))).toBeNull();
  });

  it('reveal nothing, and differ each time', () => {
    const sealed = seal(secret, 'run 1', message);
    expect(sealed.includes('succeeded')).toBe(false);
    expect(seal(secret, 'run 1', message)).not.toEqual(sealed);
  });

  it('cannot be opened if a single byte was changed or is missing', () => {
    const sealed = seal(secret, 'run 1', message);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(unseal([secret], 'run 1', changed)).toBeNull();
      expect(unseal([secret], 'run 1', sealed.subarray(0, at))).toBeNull();
    }
  });
});
