import { expect, it } from '@jest/globals';
import { textOf } from './checkout-files.js';

const page = textOf('docs/guide/abilities.md');
const tests = [...page.matchAll(/^(\d+)\. +`([^`]+)`: ([^\n]+(?:\n {2,}[^\n]+)*)/gm)].map(
  ([, number = '', file = '', name = '']) => ({ number, file, name: name.replaceAll(/\s+/g, ' ') }),
);

it('every test in the table of clients and abilities exists, and has a cell', () => {
  expect(tests.length).toBeGreaterThan(30);
  expect(tests.filter(({ file, name }) => !textOf(file).includes(name))).toEqual([]);
  const rows = [...page.matchAll(/^\| [A-Z].+$/gm)].map(([row]) => row.split('|').slice(2, -1));
  const cells = rows.flat().map((cell) => cell.trim());
  const numbers = new Set(cells.filter((cell) => /^\d+$/.test(cell)));
  expect([...numbers].sort()).toEqual(tests.map(({ number }) => number).sort());
});
