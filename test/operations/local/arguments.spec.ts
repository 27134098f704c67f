import { afterAll, describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { failOnLeftovers } from '../../harness/index.js';
import { installationFolder, launch, removeInstallation } from './launched.js';

describe('npm start with arguments', () => {
  const folder = installationFolder();
  afterAll(() => removeInstallation(folder));

  it.each(['--help', '-h'])('prints its usage with %s, and starts nothing', async (argument) => {
    const launched = await launch({ folder, args: [argument] });
    expect(await launched.ended).toBe(0);
    expect(launched.out()).toMatch(/\bPORT\b[^]*\bLOCAL_DIR\b[^]*\bPROVIDER_BFL_KEY\b/);
    expect(launched.error()).toBe('');
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([['--port=8081'], ['run'], ['--help', 'run']])('rejects %s %s', async (...args) => {
    const launched = await launch({ folder, args });
    expect(await launched.ended).toBe(2);
    expect(launched.out()).toBe('');
    expect(launched.error()).toBe('model-router: npm start takes no arguments; see npm start -- --help\n');
    expect(readdirSync(folder)).toEqual([]);
  });
});

failOnLeftovers();
