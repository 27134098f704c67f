// The results as a table, and their place in docs/operations/scale.md: between `<!-- bench NAME -->` and
// `<!-- end -->`.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';

const page = path.resolve('docs/operations/scale.md');

export const tableOf = (results) =>
  [
    '| What | Measured | Aim | |',
    '| --- | --- | --- | --- |',
    ...results.map(({ what, measured, aim, reached }) => {
      const verdict = aim === '' ? '' : reached ? 'ok' : 'missed';
      return `| ${what} | ${measured} | ${aim} | ${verdict} |`;
    }),
    '',
  ].join('\n');

/** Replaces the table of a benchmark on the page, if the page has a place for it. */
export async function writeTable(name, results, machine) {
  const before = readFileSync(page, 'utf8');
  const place = new RegExp(`(<!-- bench ${name} -->\n)[^]*?(<!-- end -->)`);
  if (!place.test(before)) return void process.stdout.write(`${name}: scale.md has no place for it\n`);
  const date = new Date().toISOString().slice(0, 10);
  const text = `\n${tableOf(results)}\n${date}, ${machine}.\n\n`;
  const written = before.replace(place, (_all, begin, end) => `${begin}${text}${end}`);
  writeFileSync(page, await format(written, { ...(await resolveConfig(page)), filepath: page }));
}
