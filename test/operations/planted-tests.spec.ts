import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkout } from '../../apps/local/src/checkout.js';

interface Results {
  testResults: { name: string; message: string; assertionResults: { title: string; status: string }[] }[];
}

/** Each fails in its own way, and the last file shows that the failures before it left nothing behind. */
const files = {
  'a.spec.ts': `
    import { expect, it } from '@jest/globals';
    it('fails', () => expect(1).toBe(2));
    it('lasts too long', () => new Promise(() => {}), 50);
    it('passes', () => {});`,
  'b.spec.ts': `
    import { afterAll, it } from '@jest/globals';
    afterAll(() => { throw new Error('of the hook at the end'); });
    it('passes', () => {});`,
  'c.spec.ts': `
    import { beforeAll, it } from '@jest/globals';
    beforeAll(() => { throw new Error('of the hook at the start'); });
    it('follows the hook', () => {});`,
  'd.spec.ts': `
    import { it } from '@jest/globals';
    it('lets a promise reject', async () => {
      void Promise.reject(new Error('of nobody'));
      await new Promise((resolve) => setTimeout(resolve, 20));
    });`,
  'e.spec.ts': `
    import { it } from '@jest/globals';
    import './missing.js';
    it('is never reached', () => {});`,
  'e2.spec.ts': `
    import { it, jest } from '@jest/globals';
    it('replaces what every file uses', () => {
      globalThis.fetch = () => { throw new Error('no fetch'); };
      jest.spyOn(JSON, 'parse').mockReturnValue('nothing');
      jest.useFakeTimers({ now: 1 });
    });`,
  'f.spec.ts': `
    import { expect, it, jest } from '@jest/globals';
    it('finds the globals of Node', () => {
      expect([JSON.parse('1'), Date.now() > 1e12]).toEqual([1, true]);
      expect(String(fetch)).not.toContain('no fetch');
    });
    it('moves the clock', () => {
      jest.useFakeTimers({ now: 1000 });
      jest.advanceTimersByTime(500);
      expect(Date.now()).toBe(1500);
      jest.useRealTimers();
      expect(Date.now()).toBeGreaterThan(1500);
    });`,
};

let folder: string;
let code: unknown;
let results: Map<string, Results['testResults'][number]>;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-planted-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  writeFileSync(
    path.join(folder, 'jest.config.mjs'),
    `import { suite, units } from ${JSON.stringify(path.join(checkout, 'test/jest.base.mjs'))};
     export default suite([{ ...units('planted', '*.spec.ts'), rootDir: import.meta.dirname }]);`,
  );
  const jest = path.join(checkout, 'node_modules/jest/bin/jest.js');
  // Sequentially, in one process, where a file could disturb the next one.
  const args = [jest, '--config', path.join(folder, 'jest.config.mjs'), '--runInBand', '--json'];
  code = await new Promise((resolve) => {
    execFile(process.execPath, [...args, '--outputFile', path.join(folder, 'results.json')], (error) =>
      resolve(error?.code ?? 0),
    );
  });
  const { testResults } = JSON.parse(readFileSync(path.join(folder, 'results.json'), 'utf8')) as Results;
  results = new Map(testResults.map((each) => [path.basename(each.name), each]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const statusesIn = (name: string) =>
  results.get(name)?.assertionResults.map(({ title, status }) => [title, status]);

it('a run with a failure exits with 1', () => expect(code).toBe(1));

it('a wrong value and a test that lasts too long fail, and the others of the file run', () =>
  expect(statusesIn('a.spec.ts')).toEqual([
    ['fails', 'failed'],
    ['lasts too long', 'failed'],
    ['passes', 'passed'],
  ]));

it('the message names the line of the failure in the source', () =>
  expect(results.get('a.spec.ts')?.message).toContain('a.spec.ts:3:33'));

it.each([
  ['b.spec.ts', 'of the hook at the end'],
  ['c.spec.ts', 'of the hook at the start'],
  ['d.spec.ts', 'of nobody'],
  ['e.spec.ts', 'missing.js'],
])('%s fails: %s', (name, said) => expect(results.get(name)?.message).toContain(said));

it('a file after the failures passes', () =>
  expect(statusesIn('f.spec.ts')).toEqual([
    ['finds the globals of Node', 'passed'],
    ['moves the clock', 'passed'],
  ]));
