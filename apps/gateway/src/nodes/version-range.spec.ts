import { describe, expect, it } from '@jest/globals';
import { contains } from './version-range.js';

describe('contains', () => {
  it.each([
    ['>=1.0.0,<2.0.0', ['1.0.0', '1.9.9', '1', 'v1.5', '1.5.0-beta'], ['0.9', '2.0.0']],
    ['>= 0.3', ['0.3.0', '0.3.40', '10'], ['0.2.9']],
    ['~=1.4', ['1.4.0', '1.9'], ['1.3', '2.0.0']],
    ['~=1.4.2', ['1.4.2', '1.4.9'], ['1.4.1', '1.5.0']],
    ['==1.2', ['1.2.0', '1.2.7'], ['1.3']],
    ['>=1,!=1.5', ['1.4', '1.6'], ['1.5.0', '0.9']],
    ['^1.2 || ^3', ['1.3', '3.0.1'], ['2.0.0', '1.1']],
    ['1.x', ['1.0', '1.99.1'], ['2']],
    ['*', ['0.0.1', '99.0'], ['nightly']],
    ['>1.2.3.4', ['1.0'], []],
    ['', ['1.0', 'nightly'], []],
    ['whatever works', ['1.0', 'nightly'], []],
  ])('takes %s for what it says', (range, inside, outside) => {
    expect(inside.filter((version) => !contains(range, version))).toEqual([]);
    expect(outside.filter((version) => contains(range, version))).toEqual([]);
  });

  it('answers hostile texts at once', () => {
    const texts = [
      '1'.repeat(16_000),
      ' '.repeat(16_000),
      '>='.repeat(8000),
      '1.'.repeat(8000),
      '||'.repeat(8000),
    ];
    // Processor time, and the best of several: a busy machine takes longer.
    const usedMs = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      for (const text of texts) {
        contains(text, '1.0.0');
        contains('>=1.0', text);
      }
      return process.cpuUsage(before).user / 1000;
    });
    expect(Math.min(...usedMs)).toBeLessThan(1000);
  });
});
