import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { RouterError } from '#errors';
import { routerPageCursor } from '#schemas';
import { openCursor, sealCursor } from './cursor.js';

const dayMs = 86_400_000;
const nowMs = 1_750_000_000_000;
const secrets = ['newest'];

function refusal(cursor: string, context = { secrets, nowMs }): RouterError {
  try {
    openCursor(cursor, context);
  } catch (error) {
    if (error instanceof RouterError) return error;
    throw error;
  }
  throw new Error(`${cursor} was accepted`);
}

describe('cursor', () => {
  it('returns the id it was sealed with, and has the format of the interface', () => {
    const id = fc.stringMatching(/^[a-z0-9._-]{1,64}\/[a-z0-9._-]{1,128}$/);
    fc.assert(
      fc.property(id, fc.string({ minLength: 1 }), (lastId, secret) => {
        const cursor = sealCursor(lastId, { secrets: [secret], nowMs });
        expect(routerPageCursor.safeParse(cursor).success).toBe(true);
        expect(openCursor(cursor, { secrets: [secret], nowMs })).toBe(lastId);
      }),
    );
  });

  it('is rejected as malformed if any character is changed', () => {
    const cursor = sealCursor('bfl/flux-2-pro', { secrets, nowMs });
    const replacement = fc.constantFrom(...'AZaz09._~+/=-'.split(''));
    fc.assert(
      fc.property(fc.nat(cursor.length - 1), replacement, (at, letter) => {
        fc.pre(cursor[at] !== letter);
        const error = refusal(cursor.slice(0, at) + letter + cursor.slice(at + 1));
        expect([error.bucket, error.status]).toEqual(['invalid_input', 400]);
      }),
    );
  });

  it.each(['', '.', '..', 'abc', 'not a cursor', 'a'.repeat(513), 'eyJhIjoxfQ.', 'ä.b'])(
    'rejects %j',
    (cursor) => expect(refusal(cursor)).toMatchObject({ bucket: 'invalid_input', status: 400 }),
  );

  it('rejects text after a valid cursor', () => {
    const cursor = sealCursor('a/b', { secrets, nowMs });
    expect(refusal(`${cursor}.`).bucket).toBe('invalid_input');
    expect(refusal(`${cursor}=`).bucket).toBe('invalid_input');
  });

  it('is valid for a day', () => {
    const cursor = sealCursor('a/b', { secrets, nowMs });
    expect(openCursor(cursor, { secrets, nowMs: nowMs + dayMs - 1 })).toBe('a/b');
    const error = refusal(cursor, { secrets, nowMs: nowMs + dayMs });
    expect([error.bucket, error.status]).toEqual(['invalid_input', 400]);
    expect(error.publicDetail).toContain('expired');
  });

  it('is sealed with the newest secret and opened with any during a rotation', () => {
    const old = sealCursor('a/b', { secrets: ['old'], nowMs });
    expect(openCursor(old, { secrets: ['new', 'old'], nowMs })).toBe('a/b');
    expect(refusal(old, { secrets: ['new'], nowMs }).bucket).toBe('invalid_input');
    const renewed = sealCursor('a/b', { secrets: ['new', 'old'], nowMs });
    expect(openCursor(renewed, { secrets: ['new'], nowMs })).toBe('a/b');
  });

  it('cannot be sealed without a secret', () => {
    expect(() => sealCursor('a/b', { secrets: [], nowMs })).toThrow('No secret');
  });
});
