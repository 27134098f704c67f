import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startMark } from './embedded/processes.js';
import { becomeInstance } from './instance.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'instance-'));
const file = path.join(folder, 'instance.json');

describe('becomeInstance', () => {
  beforeEach(() => rmSync(file, { force: true }));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('refuses while the holder lives, and not after it let go', async () => {
    const first = await becomeInstance(file);
    expect(first.afterKill).toBe(false);
    await expect(becomeInstance(file)).rejects.toThrow(`Already running as pid ${process.pid}`);
    first.release();
    expect(existsSync(file)).toBe(false);
    (await becomeInstance(file)).release();
  });

  it('takes over from a process that has gone', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    writeFileSync(file, JSON.stringify({ pid, mark: '1' }));
    expect((await becomeInstance(file)).afterKill).toBe(true);
  });

  it('takes over when the process id is somebody else’s by now', async () => {
    writeFileSync(file, JSON.stringify({ pid: process.pid, mark: `${startMark(process.pid)}0` }));
    expect((await becomeInstance(file)).afterKill).toBe(true);
    expect(readdirSync(folder)).toEqual(['instance.json']);
  });
});
