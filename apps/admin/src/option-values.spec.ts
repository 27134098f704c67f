import { describe, expect, it } from '@jest/globals';
import { InvalidArgumentError } from 'commander';
import {
  centsToMicros,
  creditsToMicros,
  globs,
  instant,
  line,
  scopeList,
  workspaceName,
} from './option-values.js';
import { personOption } from './person-name.js';
import { wholeNumber } from './whole-number.js';

describe('wholeNumber', () => {
  it('accepts the bounds', () => {
    expect(wholeNumber(0)('0')).toBe(0);
    expect(wholeNumber(0)('2147483647')).toBe(2_147_483_647);
    expect(wholeNumber(-5, 5)('-5')).toBe(-5);
  });

  it.each(['', ' 1', '1.5', '1e3', '0x10', 'ten', '-1', '2147483648'])('rejects %j', (text) => {
    expect(() => wholeNumber(0)(text)).toThrow(InvalidArgumentError);
  });
});

describe('money options', () => {
  it('converts cents to micro-dollars', () => {
    expect(centsToMicros()('250')).toBe(2_500_000);
    expect(creditsToMicros('10000')).toBe(100_000_000);
  });

  it('accepts “unlimited” only for credits', () => {
    expect(creditsToMicros('unlimited')).toBe('unlimited');
    expect(() => centsToMicros()('unlimited')).toThrow(InvalidArgumentError);
  });

  it('rejects amounts that a number cannot represent exactly', () => {
    expect(() => creditsToMicros('900719925475')).toThrow(InvalidArgumentError);
  });
});

describe('globs', () => {
  it('splits at commas and ignores spaces', () => {
    expect(globs('bfl/*, fal/flux-*,')).toEqual(['bfl/*', 'fal/flux-*']);
  });

  it('is an empty list for an empty text', () => {
    expect(globs('')).toEqual([]);
  });

  it.each(['fal/{a,b}', '!bfl/*', 'BFL/*', 'a b'])('rejects %j', (text) => {
    expect(() => globs(text)).toThrow(InvalidArgumentError);
  });
});

describe('scopeList', () => {
  it('keeps each scope once', () => {
    expect(scopeList('run,catalog,run')).toEqual(['run', 'catalog']);
  });

  it.each(['', 'admin', 'run admin'])('rejects %j', (text) => {
    expect(() => scopeList(text)).toThrow(InvalidArgumentError);
  });
});

describe('instant', () => {
  it('accepts days, which begin at midnight UTC, and times with an offset', () => {
    expect(instant('2026-01-31').toISOString()).toBe('2026-01-31T00:00:00.000Z');
    expect(instant('2026-01-31T12:00:00.5+02:00').toISOString()).toBe('2026-01-31T10:00:00.500Z');
  });

  it.each([
    '',
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2026-02-30T12:00:00+02:00',
    '2026-01-31T12:00:00',
    '1769860800',
  ])('rejects %j', (text) => {
    expect(() => instant(text)).toThrow(InvalidArgumentError);
  });
});

describe('names and notes', () => {
  it('accepts ordinary names', () => {
    expect(workspaceName('Studio Öst 2')).toBe('Studio Öst 2');
  });

  it.each([
    '',
    ' a',
    'a ',
    '-a',
    'a\nb',
    '0190f3c4-0000-7000-8000-000000000000',
    '0190F3C4-0000-7000-8000-000000000000',
    'x'.repeat(101),
  ])('rejects %j as a name', (text) => {
    expect(() => workspaceName(text)).toThrow(InvalidArgumentError);
  });

  it('accepts one line as a note', () => {
    expect(line(' invoice 12 ')).toBe('invoice 12');
    expect(() => line('two\nlines')).toThrow(InvalidArgumentError);
    expect(() => line('  ')).toThrow(InvalidArgumentError);
  });
});

describe('personOption', () => {
  it.each(['a', 'alice@example.com', 'Zoë Müller', '李雷', '👩‍💻'.slice(0, 2), 'x'.repeat(128)])(
    'accepts %j',
    (name) => {
      expect(personOption(name)).toBe(name);
    },
  );

  it.each([
    '',
    ' ',
    ' alice',
    'alice ',
    'x'.repeat(129),
    'a\nb',
    'a\tb',
    'a\u0000b',
    'a\u001B[31mb',
    // Characters that reverse, hide or split a text.
    'a\u202Eb',
    'a\u200Bb',
    'a\u2028b',
    'a\uD800b',
  ])('rejects %j', (name) => {
    expect(() => personOption(name)).toThrow(InvalidArgumentError);
  });
});

it('scopeList suggests a similar scope', () => {
  expect(() => scopeList('run,usgae')).toThrow('Did you mean usage?');
});
