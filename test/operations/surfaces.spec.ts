import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { checkout } from '../../apps/local/src/checkout.js';
import { spawnApp } from '../harness/faults.js';
import {
  createDatabase,
  failOnLeftovers,
  longTimeouts,
  temporaryFolder,
  type TestDatabase,
} from '../harness/index.js';
import { gatewayEnvironment } from '../harness/shared/described.js';

const gatewaySources = 'apps/gateway/src';
const list = `${gatewaySources}/surfaces.ts`;
const imported = /^import \{ (\w+) \} from '\.\/([\w-]+)\/[\w.-]+\.js';\n/gm;
const listText = readFileSync(path.join(checkout, list), 'utf8');
const surfaces = [...new Set([...listText.matchAll(imported)].map(([, , folder = '']) => folder))];

const gatewayOnly = {
  extends: './tsconfig.json',
  compilerOptions: { tsBuildInfoFile: './dist/.surfaces.tsbuildinfo' },
  include: [`${gatewaySources}/**/*.ts`],
  exclude: ['**/*.spec.ts'],
};

/** A built copy of the checkout. */
let copy: string;
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  copy = temporaryFolder('surfaces');
  for (const name of ['apps/gateway', 'libs', 'dist', 'package.json', 'tsconfig.json'])
    cpSync(path.join(checkout, name), path.join(copy, name), { recursive: true });
  writeFileSync(path.join(copy, 'tsconfig.gateway.json'), JSON.stringify(gatewayOnly));
  symlinkSync(path.join(checkout, 'node_modules'), path.join(copy, 'node_modules'));
});
afterAll(() => database.drop());

/** Removes the folders of these surfaces, the lines that import them, and the entries that used the imports. */
function remove(folders: readonly string[]): void {
  for (const root of [gatewaySources, `dist/${gatewaySources}`]) {
    rmSync(path.join(copy, root), { recursive: true });
    cpSync(path.join(checkout, root), path.join(copy, root), { recursive: true });
    for (const folder of folders) rmSync(path.join(copy, root, folder), { recursive: true });
  }
  const gone = new Set<string>();
  const others = listText.replaceAll(imported, (line, name: string, folder: string) => {
    if (!folders.includes(folder)) return line;
    gone.add(name);
    return '';
  });
  const kept = others.replaceAll(/^ +(?:\.\.\.)?(\w+),\n/gm, (line, name: string) =>
    gone.has(name) ? '' : line,
  );
  writeFileSync(path.join(copy, list), kept);
}

/** Type-checks and builds the gateway without its specs; returns the errors. */
const build = () =>
  spawnSync(process.execPath, ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.gateway.json'], {
    cwd: copy,
    encoding: 'utf8',
  }).stdout;

it.each([...surfaces.map((surface) => [surface]), surfaces])(
  'the gateway builds and runs without %s',
  async (...folders) => {
    remove(folders);
    const startedAtMs = performance.now();
    expect(build()).toBe('');
    const builtMs = performance.now() - startedAtMs;
    const environment = { ...gatewayEnvironment(database.url, temporaryFolder('assets')), ...longTimeouts };
    const gateway = await spawnApp('gateway', environment, { checkout: copy });
    await gateway.ready;
    const { status } = await fetch(`${gateway.url}/v2/models`);
    expect([status, await gateway.stop()]).toEqual([401, 0]);
    process.stdout.write(
      `without ${folders.join(', ')}: built in ${Math.round(builtMs)} ms, started, stopped\n`,
    );
  },
  120_000,
);

failOnLeftovers();
