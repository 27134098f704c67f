import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

/** Runs the program with a `log` in its own process. Returns the chunks that it wrote, and their lines. */
async function logged(program: string) {
  const module = new URL('../../../dist/libs/observability/src/log.js', import.meta.url).href;
  const text = `const { createLog } = await import('${module}'); const log = createLog('test', 'info', { maxWaitingBytes: 1_000_000 }); ${program}`;
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '-e', text]);
  const chunks: string[] = [];
  running.child.stdout?.on('data', (chunk) => chunks.push(String(chunk)));
  await once(running.child, 'close');
  await running.catch(() => {});
  const lines = chunks
    .join('')
    .split('\n')
    .filter((line) => line !== '');
  return { chunks, lines: lines.map((line) => JSON.parse(line) as { msg: string; lines?: number }) };
}

it('writes lines in batches, in order', async () => {
  const { chunks, lines } = await logged(`for (let n = 0; n < 100; n += 1) log.info({ n }, 'line ' + n);`);
  expect(chunks.length).toBeLessThan(5);
  expect(lines.map(({ msg }) => msg)).toEqual(Array.from({ length: 100 }, (_each, n) => `line ${n}`));
});

it('writes an error at once, together with the lines before it', async () => {
  // Blocks the whole process, timers included.
  const sleep = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);';
  const { lines } = await logged(
    `log.info('before'); log.error('it'); log.info('lost'); ${sleep} process.kill(process.pid, 'SIGKILL');`,
  );
  expect(lines.map(({ msg }) => msg)).toEqual(['before', 'it']);
});

it.each(['process.exit(1)', `throw new Error('unexpected')`])('loses no line at %s', async (end) => {
  const { lines } = await logged(`log.info('one'); log.info('two'); ${end}`);
  expect(lines.map(({ msg }) => msg)).toEqual(['one', 'two']);
});

it('keeps a bounded number of lines for a slow reader, and reports how many are missing', async () => {
  // Nothing is written until the loop ends.
  const { lines } = await logged(`for (let n = 0; n < 30_000; n += 1) log.info('line ' + n);`);
  const kept = lines.filter(({ msg }) => msg.startsWith('line '));
  const missing = lines.flatMap(({ lines: count }) => count ?? []);
  expect(kept.length).toBeLessThan(20_000);
  expect(kept.length + missing.reduce((sum, count) => sum + count, 0)).toBe(30_000);
});
