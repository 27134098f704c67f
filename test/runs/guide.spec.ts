import { describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { textOf } from '../documents/checkout-files.js';
import { failOnLeftovers, sharedSystem, transports } from '../harness/index.js';

const [transport = 'postgres'] = transports();
const page = textOf('docs/guide.md');
const exampleBelow = (heading: string): string =>
  new RegExp(`\n### ${heading}\n\n\`\`\`\\w+\n([^]*?)\n\`\`\``).exec(page)?.[1] ?? '';

const installed = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;
const itWith = (...commands: string[]) => (commands.every(installed) ? it : it.skip);

describe('the examples of docs/guide.md', () => {
  const system = sharedSystem(transport);

  async function resultOf(command: string, options: string[], heading: string): Promise<string> {
    const { key } = await system.caller();
    const { stdout } = await promisify(execFile)(command, [...options, exampleBelow(heading)], {
      env: { ...process.env, BASE_URL: system.gateways[0]?.url ?? '', API_KEY: key },
      timeout: 60_000,
    });
    return stdout;
  }

  itWith('bash', 'curl')('run with curl', async () => {
    expect(await resultOf('bash', ['-ec'], 'With curl')).toMatch(/"status":"Ready"/);
  });

  it('run with JavaScript', async () => {
    const module = ['--input-type=module', '--eval'];
    expect(await resultOf(process.execPath, module, 'With JavaScript')).toMatch(/status: 'Ready'/);
  });

  itWith('python3')('run with Python', async () => {
    expect(await resultOf('python3', ['-c'], 'With Python')).toMatch(/'status': 'Ready'/);
  });
});

failOnLeftovers();
