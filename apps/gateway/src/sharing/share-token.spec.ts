import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { shareIdOf, tokenOf } from './share-token.js';

it('names a share only with a signature by one of the secrets', () => {
  const [id, other] = [randomUUID(), randomUUID()];
  const token = tokenOf(id, ['new', 'old']);
  expect(token).toMatch(/^[\w-]{75}$/);
  expect(shareIdOf(token, ['newest', 'new'])).toBe(id);
  expect(shareIdOf(token, ['newest'])).toBeNull();
  expect(shareIdOf(other.replaceAll('-', '') + token.slice(32), ['new'])).toBeNull();
  for (const forged of ['', token.slice(1), `${token}x`, token.toUpperCase(), id])
    expect(shareIdOf(forged, ['new'])).toBeNull();
});
