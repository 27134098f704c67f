import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { providers } from './providers/providers.js';

/** Account keys by provider, each in the provider's own format. */
export const accountKeys = (api: string): Record<string, string> =>
  Object.fromEntries(
    providers.map(({ name, issueKey }) => [name, issueKey?.(`${api}/${name}`) ?? `simulated-key-${name}`]),
  );

/** Writes one file per provider. Renames each into place, because a worker may be reading the folder. */
export function writeAccountKeys(folder: string, api: string): void {
  for (const [name, key] of Object.entries(accountKeys(api))) {
    const unfinished = path.join(folder, `.${name}`);
    writeFileSync(unfinished, key, { mode: 0o600 });
    renameSync(unfinished, path.join(folder, name));
  }
}
