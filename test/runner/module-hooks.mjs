// Module hooks of Node, with which it loads the TypeScript sources and their specs.
import { transform } from '@swc/core';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const { $schema: _schema, ...swcrc } = JSON.parse(
  readFileSync(new URL('../../.swcrc', import.meta.url), 'utf8'),
);
const jestGlobals = new URL('jest-globals.mjs', import.meta.url).href;
const isSource = (url) => /^file:(?!.*\/node_modules\/).*\.ts(\?|$)/.test(url);

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: jestGlobals, shortCircuit: true };
  if (specifier.startsWith('.') && specifier.endsWith('.js') && isSource(context.parentURL ?? '')) {
    const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, shortCircuit: true };
  }
  // Resolves the "imports" of package.json (#errors, …) to the sources instead of dist.
  const conditions = specifier.startsWith('#') ? ['source', ...context.conditions] : context.conditions;
  return next(specifier, { ...context, conditions });
}

export async function load(url, context, next) {
  if (!isSource(url)) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), {
    ...swcrc,
    swcrc: false,
    filename,
    sourceMaps: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
