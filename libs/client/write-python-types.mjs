// Part of `npm run build`: the Python client with a stub that has the types of the models.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pythonStubs } from '../../dist/libs/catalog/src/python-types.js';

const source = fileURLToPath(new URL('python/model_router', import.meta.url));
const built = fileURLToPath(new URL('dist/python/model_router', import.meta.url));

export function writePythonTypes(models) {
  rmSync(built, { recursive: true, force: true });
  mkdirSync(built, { recursive: true });
  cpSync(source, built, { recursive: true, filter: (file) => !file.includes('__pycache__') });
  const stubs = pythonStubs(models);
  writeFileSync(`${built}/models.pyi`, stubs.models);
  writeFileSync(`${built}/_model_calls.pyi`, stubs.calls);
}
