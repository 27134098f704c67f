import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '#schemas';
import { parse } from 'yaml';

import type { ProviderDefinition } from '../contract.js';
import { definitionOf } from './declared.js';
import { providerRow, type ProviderRow } from './shape.js';

/** The compiler copies no YAML: sources and build read the same files. */
const folder = join(packageRoot(), 'libs/providers/src/providers');
const writtenFile = join(packageRoot(), 'dist/libs/providers/declared.json');

interface Written {
  hash: string;
  rows: ProviderRow[];
}

/** The providers whose protocol needs no code: each folder that has a declaration of its name. */
export function builtInDeclarations(): ProviderDefinition[] {
  const texts = declarations();
  const written = existsSync(writtenFile) && (JSON.parse(readFileSync(writtenFile, 'utf8')) as Written);
  const rows = written && written.hash === hashOf(texts) ? written.rows : rowsOf(texts);
  return rows.map(definitionOf);
}

/** Part of `npm run build`: what they say, checked, because YAML and checks are slow. */
export function writeDeclarations(): void {
  const texts = declarations();
  const beside = `${writtenFile}.${process.pid}`;
  writeFileSync(beside, JSON.stringify({ hash: hashOf(texts), rows: rowsOf(texts) } satisfies Written));
  renameSync(beside, writtenFile);
}

const declarations = (): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name, `${name}.yaml`))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'));

const rowsOf = (texts: readonly string[]): ProviderRow[] =>
  texts.map((text) => providerRow.parse(parse(text)));

const hashOf = (texts: readonly string[]): string => createHash('sha256').update(texts.join()).digest('hex');
