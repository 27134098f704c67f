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
const imported = /^import \{ (\w+) \} from '\.\/([\w-]+)(?:\/[\w.-]+)?\.js';\n/gm;

/** A file that lists parts of the gateway, each of which is a file or folder beside it. */
function listOf(file: string) {
  const name = path.join(gatewaySources, file);
  const text = readFileSync(path.join(checkout, name), 'utf8');
  const parts = [...new Set([...text.matchAll(imported)].map(([, , part = '']) => part))];
  return { name, text, parts };
}

type List = ReturnType<typeof listOf>;

const surfaces = listOf('surfaces.ts');
const vendors = listOf('vendors/vendors.ts');

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

/** Removes these parts, the lines that import them, and the entries that used the imports. */
function remove(list: List, parts: readonly string[]): void {
  for (const root of [gatewaySources, `dist/${gatewaySources}`]) {
    rmSync(path.join(copy, root), { recursive: true });
    cpSync(path.join(checkout, root), path.join(copy, root), { recursive: true });
    const folder = path.join(copy, root, path.relative(gatewaySources, path.dirname(list.name)));
    const extension = root === gatewaySources ? '.ts' : '.js';
    for (const part of parts)
      for (const name of [part, `${part}${extension}`])
        rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  const gone = new Set<string>();
  const others = list.text.replaceAll(imported, (line, name: string, part: string) => {
    if (!parts.includes(part)) return line;
    gone.add(name);
    return '';
  });
  const kept = others.replaceAll(/(?<=[[\s])(?:\.\.\.)?(\w+)(?:,\s|(?=\]))/g, (entry, name: string) =>
    gone.has(name) ? '' : entry,
  );
  writeFileSync(path.join(copy, list.name), kept);
}

/** Type-checks and builds the gateway without its specs; returns the errors. */
const build = (...options: string[]) =>
  spawnSync(
    process.execPath,
    ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.gateway.json', ...options],
    { cwd: copy, encoding: 'utf8' },
  ).stdout;

it.each(vendors.parts)('the gateway builds without the vendor %s', (vendor) => {
  remove(vendors, [vendor]);
  expect(readFileSync(path.join(copy, vendors.name), 'utf8')).not.toMatch(new RegExp(`\\b${vendor}\\b`));
  expect(build('--noEmit')).toBe('');
});

it.each([...surfaces.parts.map((surface) => [surface]), surfaces.parts])(
  'the gateway builds and runs without %s',
  async (...folders) => {
    remove(surfaces, folders);
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
