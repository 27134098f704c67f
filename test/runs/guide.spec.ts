import { describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { textOf } from '../documents/checkout-files.js';
import { failOnLeftovers, sharedSystem, transports } from '../harness/index.js';

const [transport = 'postgres'] = transports();
const page = textOf('docs/guide.md');
const exampleBelow = (heading: string): string =>
  new RegExp(`\n### ${heading}\n\n\`\`\`\\w+\n([^]*?)\n\`\`\``).exec(page)?.[1] ?? '';

const examples = [
  { heading: 'With curl', needs: 'curl', command: ['bash', '-ec'] },
  { heading: 'With JavaScript', needs: process.execPath, command: ['node', '--input-type=module', '--eval'] },
  { heading: 'With Python', needs: 'python3', command: ['python3', '-c'] },
].filter(({ needs }) => spawnSync(needs, ['--version']).error === undefined);

describe('the examples of docs/guide.md', () => {
  const system = sharedSystem(transport);

  it.each(examples)('run: $heading', async ({ heading, command: [program = '', ...options] }) => {
    const { key } = await system.caller();
    const { stdout } = await promisify(execFile)(program, [...options, exampleBelow(heading)], {
      env: { ...process.env, BASE_URL: system.gateways[0]?.url ?? '', API_KEY: key },
      timeout: 60_000,
    });
    expect(stdout).toMatch(/"?'?status'?"?: ?["']Ready["']/);
  });
});

failOnLeftovers();
