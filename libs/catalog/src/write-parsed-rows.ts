import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDeclarations } from '#providers';
import { packageRoot } from '#schemas';

import { builtInDirectories } from './load-catalog.js';
import { parsedRows, parsedRowsFile } from './parsed-rows.js';

// Part of `npm run build`: what the built-in declarations and rows say, in a form that is quick to read.
writeDeclarations();
const texts = builtInDirectories().flatMap((directory) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(directory, name), 'utf8')),
);
const file = join(packageRoot(), parsedRowsFile);
// Another process of this checkout may be starting: it reads the old rows or the new ones, never half of them.
const beside = `${file}.${process.pid}`;
writeFileSync(beside, JSON.stringify(parsedRows(texts)));
renameSync(beside, file);
