import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';

const built = (file: string) => path.resolve('dist', file);
const folder = mkdtempSync(path.join(tmpdir(), 'start-'));

async function runModule(text: string, env: Record<string, string> = {}): Promise<string> {
  const args = ['--input-type=module', '--eval', text];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return stdout;
}

interface Coverage {
  result: { url: string }[];
}

/** The packages of which a process has loaded a file, once it has imported the built module. */
async function packagesOf(file: string): Promise<Set<string>> {
  const coverage = mkdtempSync(path.join(folder, 'coverage-'));
  await runModule(`await import('${built(file)}'); process.exit();`, { NODE_V8_COVERAGE: coverage });
  const files = readdirSync(coverage).map((name) => readFileSync(path.join(coverage, name), 'utf8'));
  const urls = files.flatMap((text) => (JSON.parse(text) as Coverage).result.map(({ url }) => url));
  return new Set(
    urls.flatMap((url) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.slice(1, 2) ?? []),
  );
}

/** Loaded only by a process that has a bucket, a collector, a board or an agent. */
const optional = [
  '@aws-sdk/client-s3',
  '@bull-board/api',
  '@modelcontextprotocol/server',
  '@opentelemetry/sdk-trace-base',
  'lodash',
];

describe('the start of a process', () => {
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(['gateway', 'worker'])('does not load what the %s may never need', async (app) => {
    const loaded = await packagesOf(`apps/${app}/src/${app}.module.js`);
    expect(loaded).toContain('@nestjs/common');
    expect(optional.filter((name) => loaded.has(name))).toEqual([]);
  });

  it.each(['gateway', 'worker'])('sets the flags of V8 before the %s loads anything', (app) => {
    const text = readFileSync(built(`apps/${app}/src/main.js`), 'utf8');
    expect(text.match(/(?<=^import .*')[^']+(?=';$)/gm)).toEqual(['node:v8']);
  });

  it('does not load the database library before the launcher starts the servers', async () => {
    const loaded = await packagesOf('apps/local/src/launcher.js');
    expect(loaded).toContain('zod');
    expect(['typeorm', '@nestjs/common', 'bullmq'].filter((name) => loaded.has(name))).toEqual([]);
  });
});

describe('a stack trace', () => {
  it('names the lines of the sources', async () => {
    const text = `
      import { showSourceLines } from '${built('libs/observability/src/source-lines.js')}';
      import { signedSeconds } from '${built('libs/storage/src/asset-url.js')}';
      showSourceLines();
      try { signedSeconds(0); } catch (error) { console.log(error.stack); }`;
    const [head, first = ''] = (await runModule(text)).split('\n');
    expect(head).toMatch(/^RangeError: A signed URL must expire/);
    const [, file = '', line] = /at signedSeconds \((.+\.ts):(\d+):\d+\)/.exec(first) ?? [];
    expect(path.relative('.', file)).toBe('libs/storage/src/asset-url.ts');
    expect(readFileSync(file, 'utf8').split('\n')[Number(line) - 1]).toContain('throw new RangeError');
  });
});
