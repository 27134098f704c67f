import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

import type { ProviderDefinition } from '../contract.js';
import { declaredProvider } from '../declared/declared.js';

const folder = join(import.meta.dirname, '..', 'declared', 'twins');

/** Built-in providers that are declared in YAML as well: they must answer to the same fixtures. */
export const declaredTwins = (): ProviderDefinition[] =>
  readdirSync(folder).map((file) => {
    const declared = declaredProvider(parse(readFileSync(join(folder, file), 'utf8')));
    if (!declared.definition) throw new Error(`${file}: ${JSON.stringify(declared.problems)}`);
    return declared.definition;
  });
