import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest parent folder with a package.json. */
export function packageRoot(from: string = import.meta.dirname): string {
  let root = from;
  while (!existsSync(join(root, 'package.json'))) {
    if (dirname(root) === root) throw new Error(`no package.json above ${from}`);
    root = dirname(root);
  }
  return root;
}
