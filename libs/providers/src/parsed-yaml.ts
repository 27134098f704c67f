import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { packageRoot } from '#schemas';
import { parse } from 'yaml';

import { providerRow, type ProviderRow } from './declared/shape.js';

/** The compiler does not copy YAML, so sources and build read the same files. */
const folder = join(packageRoot(), 'libs/providers/src/providers');
const storedFile = join(packageRoot(), 'dist/libs/providers/parsed-yaml.json');

let stored: ReadonlyMap<string, unknown> | undefined;

/**
 * Parses YAML. `npm run build` stores the parsed built-in files by the hash of their text, because YAML is slow to
 * parse: this makes a process start one second faster. Throws the parser's errors.
 */
export function parsedYaml(text: string, read = parseYaml): unknown {
  stored ??= new Map(existsSync(storedFile) ? (JSON.parse(readFileSync(storedFile, 'utf8')) as []) : []);
  return stored.get(hashOf(text)) ?? read(text);
}

/**
 * The value of a text that a program has written as JSON, which is YAML too and parses a hundred times faster. Undefined
 * for any other text: in JSON written by hand, the last of two equal keys would silently win.
 */
function parsedJson(text: string): unknown {
  const json = text.replace(/^(#.*\n)*/, '').trimEnd();
  if (!json.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return JSON.stringify(value, undefined, 2) === json ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The release's declared providers: each folder with a YAML file of the same name. Checked before they are stored. */
export const builtInRows = (): ProviderRow[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name, `${name}.yaml`))
    .filter((file) => existsSync(file))
    .map((file) => parsedYaml(readFileSync(file, 'utf8'), declarationIn) as ProviderRow);

/** Part of `npm run build`. */
export function storeParsedYaml(): void {
  const contents = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return [hashOf(text), isDeclaration(name) ? declarationIn(text) : parseYaml(text)];
    });
  // Another process of this checkout may be starting: it must read the old file or the new one, never half of it.
  const beside = `${storedFile}.${process.pid}`;
  writeFileSync(beside, JSON.stringify(contents));
  renameSync(beside, storedFile);
}

const isDeclaration = (name: string): boolean => basename(name, '.yaml') === dirname(name);

const parseYaml = (text: string): unknown =>
  parsedJson(text) ?? parse(text, { version: '1.2', schema: 'core', maxAliasCount: 100 });

const declarationIn = (text: string): ProviderRow => providerRow.parse(parseYaml(text));

const hashOf = (text: string): string => hash('sha256', text);
