import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withEnvironmentFile } from './environment.js';

const home = process.cwd();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'environment-'));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

it('is the environment alone if there is no file or if it names the database', () => {
  expect(withEnvironmentFile({ A: '1' }, undefined)).toEqual({ A: '1' });
  writeFileSync('.env', 'DATABASE_URL=postgres://file\n');
  const env = { DATABASE_URL: 'postgres://environment' };
  expect(withEnvironmentFile(env, undefined)).toBe(env);
});

it('is completed by .env, or else by the file of the local start, and takes precedence over them', () => {
  mkdirSync('.local');
  writeFileSync('.local/admin.env', "DATABASE_URL='postgres://local'\nJWT_SECRET='a'\n");
  expect(withEnvironmentFile({ JWT_SECRET: 'b' }, undefined)).toEqual({
    DATABASE_URL: 'postgres://local',
    JWT_SECRET: 'b',
  });
  writeFileSync('.env', 'DATABASE_URL=postgres://dot\n');
  expect(withEnvironmentFile({}, undefined)).toEqual({ DATABASE_URL: 'postgres://dot' });
  expect(withEnvironmentFile({ DATABASE_URL: '' }, undefined)).toEqual({ DATABASE_URL: 'postgres://dot' });
});

it('is completed by the given file, which must exist', () => {
  writeFileSync('mine', 'DATABASE_URL=postgres://mine\n');
  expect(withEnvironmentFile({}, 'mine')).toEqual({ DATABASE_URL: 'postgres://mine' });
  expect(() => withEnvironmentFile({}, 'nosuch')).toThrow('nosuch cannot be read');
});
