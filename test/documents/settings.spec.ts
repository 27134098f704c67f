import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { parseEnv } from 'node:util';
import { readSettings } from '#schemas';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import { workerSettings } from '../../apps/worker/src/settings.js';
import { pathOf, textOf } from './checkout-files.js';

const names = (env: object): string[] => Object.keys(env).sort();

describe.each([
  [
    'docs/configuration.md, .env.example and the chart’s schema of `config`',
    'scripts/docs-configuration.mjs',
  ],
  ['docs/operations/catalog-reference.md', 'scripts/docs-catalog.mjs'],
])('%s', (_pages, script) => {
  it('match the schemas of the built apps, and describe each field', () => {
    const { stderr, status } = spawnSync(process.execPath, [pathOf(script), '--check'], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});

describe('.env.example', () => {
  const text = textOf('.env.example');
  const everything = text.replaceAll(/^#(?=[A-Z0-9_]+=)/gm, '');

  it('starts a gateway and a worker unchanged', () => {
    const env = parseEnv(text);
    expect(readSettings(gatewaySettings, env).DATABASE_URL).toBe(env['DATABASE_URL']);
    expect(readSettings(workerSettings, env).DATABASE_URL).toBe(env['DATABASE_URL']);
  });

  it('lists exactly the settings of gateway and worker, each with a valid value', () => {
    const env = parseEnv(everything);
    expect(names(env)).toEqual(names({ ...gatewaySettings, ...workerSettings }));
    expect(names(readSettings(gatewaySettings, env))).toEqual(names(gatewaySettings));
    expect(names(readSettings(workerSettings, env))).toEqual(names(workerSettings));
  });
});
