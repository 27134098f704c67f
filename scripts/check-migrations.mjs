// A released migration is frozen, because databases store its digest and reject a program with a different one.
//
// node scripts/check-migrations.mjs fails if a listed file was edited, or a file is not listed
//
// node scripts/check-migrations.mjs --add lists new files; it never changes a line
import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = 'libs/persistence/src/migrations';
const listFile = path.join(folder, 'released.sha256');
const digest = (file) =>
  createHash('sha256')
    .update(readFileSync(path.join(folder, file)))
    .digest('hex');

const listed = readFileSync(listFile, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.split('  '));
const files = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .sort();
const names = listed.map(([, file]) => file);
const added = files.filter((file) => !names.includes(file));

if (process.argv.includes('--add')) {
  appendFileSync(listFile, added.map((file) => `${digest(file)}  ${file}\n`).join(''));
  process.exit();
}

/** Files that were released before the rule for indexes. */
const withSeveralIndexes = [
  '1764100000001-key-indexes.sql',
  '1764100000005-calls-of-runs.sql',
  '1764100000006-audit-and-refunds.sql',
  '1764100000010-list-indexes.sql',
];
const concurrentIndexes = (file) =>
  readFileSync(path.join(folder, file), 'utf8').match(/CREATE (UNIQUE )?INDEX CONCURRENTLY/g)?.length ?? 0;

const problems = [
  ...listed.flatMap(([released, file]) => {
    if (!files.includes(file)) return [`${file} was released and is missing`];
    return digest(file) === released ? [] : [`${file} was released and is frozen: write a new migration`];
  }),
  // A file that is cut off begins again with its first index.
  ...files
    .filter((file) => concurrentIndexes(file) > 1 && !withSeveralIndexes.includes(file))
    .map((file) => `${file} builds several indexes concurrently: write one file for each`),
  ...added.map((file) => `${file} is not listed: node scripts/check-migrations.mjs --add`),
  ...(names.join() === names.toSorted().join()
    ? []
    : [`${listFile} is not in the order of the files' names`]),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
