import { readdirSync } from 'node:fs';
import path from 'node:path';

/** The keys of all files in an asset folder, except the store's own id, which belongs to no run. */
export const storedFiles = (assets: string): string[] =>
  readdirSync(assets, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(assets, path.join(entry.parentPath, entry.name)))
    .filter((key) => key.replace(/~type$/, '') !== 'store-id');
