import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** The absolute path of a file in the checkout. */
export const pathOf = (name: string): string => path.join(checkout, name);

export const textOf = (name: string): string => readFileSync(pathOf(name), 'utf8');

/** Every file below the folder, relative to the checkout. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(pathOf(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(checkout, path.join(entry.parentPath, entry.name)))
    .sort();

/** The project's own Markdown documents. */
export const documents = (): string[] => [
  ...readdirSync(checkout).filter((name) => name.endsWith('.md')),
  ...['docs', 'docker', 'k8s'].flatMap(filesBelow).filter((name) => name.endsWith('.md')),
];
