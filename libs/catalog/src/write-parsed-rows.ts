import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInDirectories } from './load-catalog.js';
import { packageRoot, parsedRows, parsedRowsFile } from './parsed-rows.js';

// Part of `npm run build`: what the built-in rows say, in a form that is quick to read.
const texts = builtInDirectories().flatMap((directory) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(directory, name), 'utf8')),
);
writeFileSync(join(packageRoot(), parsedRowsFile), JSON.stringify(parsedRows(texts)));
