import { afterAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { acquireInstanceLock, identify, isRunning, ProcessRecords } from './processes.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'processes-'));
const lock = path.join(mkdtempSync(path.join(os.tmpdir(), 'instance-')), 'instance.json');
/** Ends when its input does. */
const sleeper = () => spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' });

afterAll(() => {
  for (const each of [folder, path.dirname(lock)]) rmSync(each, { recursive: true });
});

describe('ProcessRecords', () => {
  it('ends what another one started, and forgets it', async () => {
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

  it('leaves a process alone that has only the id of a recorded one', async () => {
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
  it('refuses while the holder lives, and not after it let go', () => {
    const release = acquireInstanceLock(lock);
    expect(() => acquireInstanceLock(lock)).toThrow(`Already running as pid ${process.pid} on ${lock}`);
    release();
    expect(existsSync(lock)).toBe(false);
  });

  it.each([
    ['a process that has gone', { pid: spawnSync(process.execPath, ['--version']).pid, startedAt: '1' }],
    ['another process with its id', { pid: process.pid, startedAt: `0${identify(process.pid).startedAt}` }],
  ])('takes over from %s', (_holder, record) => {
    writeFileSync(lock, JSON.stringify(record));
    acquireInstanceLock(lock)();
    expect(existsSync(lock)).toBe(false);
  });
});
