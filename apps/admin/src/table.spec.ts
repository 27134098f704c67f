import { describe, expect, it } from '@jest/globals';
import { table } from './table.js';

describe('table', () => {
  it('pads every column to its longest cell and leaves no blanks at a line’s end', () => {
    expect(
      table([
        ['NAME', 'CREDITS'],
        ['a-long-name', '5'],
        ['b', 'unlimited'],
      ]),
    ).toBe('NAME         CREDITS\na-long-name  5\nb            unlimited');
  });

  it('is only the heading when nothing was found', () => {
    expect(table([['NAME', 'STATE']])).toBe('NAME  STATE');
  });
});
