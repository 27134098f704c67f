// Part of `npm run build`: generates the console's types from the service document, then builds the console. Does
// nothing if no input has changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { readServiceDocument } from '../../dist/apps/gateway/src/built-document.js';
import { guideFolders } from './guide-pages.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));
const checkout = path.join(root, '../..');
const out = path.join(checkout, 'dist/apps/console');
const stamp = path.join(checkout, 'dist/apps/.console-inputs');
const typesFile = path.join(root, 'src/api/openapi.d.ts');

const document = JSON.stringify(readServiceDocument());
const inputs = inputsHash();
const isBuilt = [stamp, typesFile, path.join(out, 'index.html')].every((file) => existsSync(file));
if (!isBuilt || readFileSync(stamp, 'utf8') !== inputs) {
  // Imported here so that a build with nothing to do loads neither.
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const { build } = await import('vite');
  writeFileSync(typesFile, astToString(await openapiTypes(JSON.parse(document))));
  await build({ configFile: path.join(root, 'vite.config.mjs'), logLevel: 'warn' });
  await Promise.all(filesIn(out).map(compress));
  writeFileSync(stamp, inputs);
}

function inputsHash() {
  const hash = createHash('sha256').update(document);
  const sources = [root, ...guideFolders].flatMap(filesIn);
  for (const file of [...sources, path.join(checkout, 'package-lock.json')]) {
    if (file !== typesFile) hash.update(path.relative(checkout, file)).update(readFileSync(file));
  }
  return hash.digest('hex');
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .sort();
}

/** The gateway serves these files without compressing them, so the build does. */
async function compress(file) {
  if (!/\.(js|css|svg|html)$/.test(file)) return;
  const bytes = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes, { params }));
  writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
