import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { healthOf, release } from './release.js';
import { sourceOf } from './release-source.js';

let folder: string;
const git = (...words: string[]) =>
  execFileSync('git', ['-C', folder, ...words], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.com',
      GIT_COMMITTER_DATE: '2026-02-03T04:05:06Z',
    },
  });

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'release-'));
  git('init', '--quiet');
  writeFileSync(path.join(folder, 'file'), 'one');
  git('add', '.');
  git('commit', '--quiet', '--message', 'a commit');
});
afterAll(() => rmSync(folder, { recursive: true }));

it('takes the commit and its time, and marks a state that differs from it', () => {
  const revision = git('rev-parse', 'HEAD').trim();
  const builtAt = '2026-02-03T04:05:06Z';
  expect(sourceOf(folder, {})).toEqual({ revision, builtAt });
  writeFileSync(path.join(folder, 'file'), 'two');
  expect(sourceOf(folder, {})).toEqual({ revision: `${revision}-dirty`, builtAt });
});

it('takes what the builder sets before what git says', () => {
  expect(sourceOf(folder, { GIT_REVISION: 'abc', BUILT_AT: '2026-01-01T00:00:00Z' })).toEqual({
    revision: 'abc',
    builtAt: '2026-01-01T00:00:00Z',
  });
  expect(sourceOf(folder, { SOURCE_DATE_EPOCH: '0' }).builtAt).toBe('1970-01-01T00:00:00Z');
});

it('does not take the commit of a checkout around the folder, or of no checkout', () => {
  const inside = path.join(folder, 'unpacked');
  mkdirSync(inside);
  const unknown = { revision: 'unknown', builtAt: 'unknown' };
  expect(sourceOf(inside, {})).toEqual(unknown);
  expect(sourceOf(os.tmpdir(), { GIT_REVISION: '' })).toEqual(unknown);
});

it('states the version with the health', () => {
  const { version, revision, builtAt: built_at } = release;
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
  expect(healthOf(true)).toEqual({ status: 'ready', version, revision, built_at });
  expect(healthOf(false)).toMatchObject({ status: 'not_ready', version });
  expect(healthOf('the clock is wrong')).toMatchObject({ status: 'not_ready', reason: 'the clock is wrong' });
});
