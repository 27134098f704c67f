import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { acquireInstanceLock } from './instance-lock.js';
import { identify } from './processes.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'instance-'));
const file = path.join(folder, 'instance.json');

describe('acquireInstanceLock', () => {
  beforeEach(() => rmSync(file, { force: true }));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('refuses while the holder lives, and not after it let go', () => {
    const release = acquireInstanceLock(file);
    expect(() => acquireInstanceLock(file)).toThrow(`Already running as pid ${process.pid} on ${file}`);
    release();
    expect(existsSync(file)).toBe(false);
    acquireInstanceLock(file)();
  });

  it('takes over from a process that has gone', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    writeFileSync(file, JSON.stringify({ pid, startedAt: '1' }));
    acquireInstanceLock(file)();
  });

  it('takes over when the process id is somebody else’s by now', () => {
    writeFileSync(
      file,
      JSON.stringify({ pid: process.pid, startedAt: `0${identify(process.pid).startedAt}` }),
    );
    acquireInstanceLock(file);
    expect(readdirSync(folder)).toEqual(['instance.json']);
  });
});
