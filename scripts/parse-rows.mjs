// Part of `npm run build`: what the built-in rows say, in a form that is quick to read.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInDirectories } from '../dist/libs/catalog/src/load-catalog.js';
import { packageRoot, parsedRows, parsedRowsFile } from '../dist/libs/catalog/src/parsed-rows.js';

const texts = builtInDirectories().flatMap((directory) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(directory, name), 'utf8')),
);
writeFileSync(join(packageRoot(), parsedRowsFile), JSON.stringify(parsedRows(texts)));
