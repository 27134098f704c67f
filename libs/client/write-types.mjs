// Part of `npm run build`: completes the built TypeScript client, which exists as an ES module and for CommonJS, and the
// Python client.
import { readFileSync, writeFileSync } from 'node:fs';
import { loadCatalog } from '../../dist/libs/catalog/src/load-catalog.js';
import { withModelTypes } from '../../dist/libs/catalog/src/model-types.js';
import { writePythonTypes } from './write-python-types.mjs';

const inClient = (file) => new URL(`dist/${file}`, import.meta.url);

// The package itself is a module. TypeScript and Node read the nearest package.json.
writeFileSync(inClient('cjs/package.json'), '{ "type": "commonjs" }\n');

// Models are typed once, because their types are nine tenths of the package. A module may import types of CommonJS,
// but not the other way round.
const { models } = await loadCatalog();
const declared = inClient('cjs/models.d.ts');
writeFileSync(declared, withModelTypes(readFileSync(declared, 'utf8'), models));
const names = [...readFileSync(declared, 'utf8').matchAll(/^export (?:type|interface) (\w+)/gm)].map(
  ([, name]) => name,
);
writeFileSync(inClient('models.d.ts'), `export type { ${names.join(', ')} } from './cjs/models.js';\n`);

writePythonTypes(models);
