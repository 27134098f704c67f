import { afterAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { acquireInstanceLock, identify, isRunning, ProcessRecords } from './processes.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'processes-'));
const lock = path.join(mkdtempSync(path.join(os.tmpdir(), 'instance-')), 'instance.json');
/** A process that exits when its input ends. */
const sleeper = () => spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' });

afterAll(() => {
  for (const each of [folder, path.dirname(lock)]) rmSync(each, { recursive: true });
});

describe('ProcessRecords', () => {
  it('ends and forgets processes that another launcher started', async () => {
    const children = [sleeper(), sleeper()];
    for (const child of children) new ProcessRecords(folder).track(child, 'sleeper');
    const records = new ProcessRecords(folder);
    expect(records.list().map(({ name }) => name)).toEqual(['sleeper', 'sleeper']);
    await records.endAll(['another']);
    expect(children.map(({ pid }) => isRunning(pid ?? 0))).toEqual([true, true]);
    await records.endAll();
    expect(children.map(({ pid }) => isRunning(pid ?? 0))).toEqual([false, false]);
    expect(records.list()).toEqual([]);
  });

  it('leaves a process alone that only has the same id as a recorded one', async () => {
    const child = sleeper();
    const records = new ProcessRecords(folder);
    records.track(child, 'sleeper');
    const [file = ''] = readdirSync(folder).map((name) => path.join(folder, name));
    writeFileSync(file, readFileSync(file, 'utf8').replace('"startedAt":"', '"startedAt":"0'));
    await records.endAll();
    expect(isRunning(child.pid ?? 0)).toBe(true);
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  });
});

describe('acquireInstanceLock', () => {
  it('fails while the holder is alive, and succeeds after its release', () => {
    const release = acquireInstanceLock(lock);
    expect(() => acquireInstanceLock(lock)).toThrow(`Already running as pid ${process.pid} on ${lock}`);
    release();
    expect(existsSync(lock)).toBe(false);
  });

  it.each([
    ['a process that has ended', { pid: spawnSync(process.execPath, ['--version']).pid, startedAt: '1' }],
    [
      'another process with the same id',
      { pid: process.pid, startedAt: `0${identify(process.pid).startedAt}` },
    ],
  ])('takes over from %s', (_holder, record) => {
    writeFileSync(lock, JSON.stringify(record));
    acquireInstanceLock(lock)();
    expect(existsSync(lock)).toBe(false);
  });
});
