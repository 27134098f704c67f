import { afterAll, beforeAll } from '@jest/globals';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { migrationsFolder, readMigrations } from '../migrations.js';

/** A copy of the migrations, and a function that adds one and returns all of them; call it in a `describe`. */
export function plantedMigrations(): (file: string, text: string) => ReturnType<typeof readMigrations> {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-migrations-'));
    cpSync(migrationsFolder, folder, { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return (file, text) => {
    writeFileSync(path.join(folder, file), text);
    const list = readFileSync(path.join(folder, 'released.sha256'), 'utf8');
    writeFileSync(path.join(folder, 'released.sha256'), `${list}0000  ${file}\n`);
    return readMigrations(folder);
  };
}
