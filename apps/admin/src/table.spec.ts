import { describe, expect, it } from '@jest/globals';
import { table } from './table.js';

describe('table', () => {
  it('aligns columns with their headings, without trailing spaces', () => {
    const rows = [
      { name: 'a', note: 'longer' },
      { name: 'longest', note: '' },
      { name: 'c', note: null },
    ];
    expect(table(rows, { NAME: ({ name }) => name, NOTE: ({ note }) => note })).toBe(
      'NAME     NOTE\na        longer\nlongest\nc        -',
    );
  });
});
