import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './json-file.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'kept-'));
const file = path.join(folder, 'kept.json');
const schema = z.object({ word: z.string() });

describe('JSON files', () => {
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are absent before the first start', () => {
    expect(readJsonFile(file, schema)).toBeUndefined();
  });

  it('hold the last value, are readable only by their owner, and leave no draft behind', () => {
    writeJsonFile(file, { word: 'one' });
    writeJsonFile(file, { word: 'two' });
    expect(readJsonFile(file, schema)).toEqual({ word: 'two' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['kept.json']);
  });

  it.each(['{"word":', '{"word":1}'])('are rejected if they contain %s', (text) => {
    writeFileSync(file, text);
    expect(() => readJsonFile(file, schema)).toThrow(`${file} is damaged`);
  });
});
