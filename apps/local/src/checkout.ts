import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json. It is found both from the sources, which tests import, and from dist. */
export const checkout = findCheckout(path.dirname(fileURLToPath(import.meta.url)));

/** The built main file of an app, or another of its programs. Apps run as processes; none imports another. */
export const appMain = (name: string, file = 'main.js', from = checkout): string =>
  path.join(from, 'dist', 'apps', name, name === 'admin' ? 'bundle' : 'src', file);

function findCheckout(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error('No package.json above this file');
  return findCheckout(parent);
}
