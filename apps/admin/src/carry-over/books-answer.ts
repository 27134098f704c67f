import type { Books } from '#persistence';
import { table } from '../table.js';

/** The row counts and the sums in all; those of each workspace are in the export itself. */
export function booksAnswer({ rows, sums }: Books): { document: object; text: string } {
  const totals = Object.entries(sums).map(([amount, { all }]) => [amount, all] as const);
  return {
    document: { rows, sums: Object.fromEntries(totals) },
    text: [
      table([['TABLE', 'ROWS'], ...Object.entries(rows).map(([name, count]) => [name, String(count)])]),
      '',
      table([['AMOUNT', 'SUM (MICRO-DOLLARS)'], ...totals.map((total) => [...total])]),
    ].join('\n'),
  };
}
