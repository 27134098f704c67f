import { afterAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isRunning, ProcessRecords } from './processes.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'processes-'));
/** Ends when its input does. */
const sleeper = () => spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' });

describe('ProcessRecords', () => {
  afterAll(() => rmSync(folder, { recursive: true }));

  it('ends what another one started, and forgets it', async () => {
    const children = [sleeper(), sleeper()];
    for (const child of children) new ProcessRecords(folder).track(child, 'sleeper');
    const records = new ProcessRecords(folder);
    expect(records.list().map(({ name }) => name)).toEqual(['sleeper', 'sleeper']);
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
