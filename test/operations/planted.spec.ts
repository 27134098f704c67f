import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkout } from '../../apps/local/src/checkout.js';

interface Ended {
  code: number;
  output: string;
}

/** A check takes seconds, and minutes on a busy machine. */
const withinMs = 300_000;

/** A copy of the sources into which mistakes are planted, because a check that cannot fail proves nothing. */
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(path.join(os.tmpdir(), 'model-router-planted-'));
  for (const name of [
    'apps',
    'libs',
    'docker',
    'docs',
    'examples',
    'k8s',
    'monitoring',
    'scripts',
    'test',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'README.md',
    'SECURITY.md',
    'package.json',
    'tsconfig.json',
    'knip.json',
    'jest.config.mjs',
    'nest-cli.json',
  ]) {
    cpSync(path.join(checkout, name), path.join(copy, name), { recursive: true });
  }
  for (const name of ['.dependency-cruiser.cjs', '.oxlintrc.json']) {
    cpSync(path.join(checkout, name), path.join(copy, name));
  }
  symlinkSync(path.join(checkout, 'node_modules'), path.join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const scripts = (
  JSON.parse(readFileSync(path.join(checkout, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
).scripts;

const check = (name: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      'sh',
      ['-c', scripts[`check:${name}`] ?? 'exit 99'],
      {
        cwd: copy,
        env: { ...process.env, PATH: `${checkout}/node_modules/.bin:${process.env['PATH']}` },
        timeout: withinMs,
      },
      (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });

/**
 * Plants all mistakes at once, at the end of their files or in new ones, runs the check once, and removes them.
 */
async function planted(
  mistakes: readonly (readonly [file: string, text: string, said: string])[],
  name: string,
): Promise<Ended> {
  const files = new Map(mistakes.map(([file]) => [path.join(copy, file), textOf(path.join(copy, file))]));
  for (const [file, text] of mistakes) appendFileSync(path.join(copy, file), `\n${text}\n`);
  try {
    return await check(name);
  } finally {
    for (const [file, text] of files) {
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
    }
  }
}

const textOf = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8') : undefined;

const imports = [
  ['libs/errors/src/planted.ts', `import '#schemas';`, 'errors-imports-nothing'],
  ['libs/schemas/src/planted.ts', `import '#persistence';`, 'schemas-and-observability-import-errors-only'],
  ['libs/queue/src/planted.ts', `import '#persistence';`, 'level-two-libraries-never-import-each-other'],
  ['libs/providers/src/planted.ts', `import '#catalog';`, 'level-two-libraries-never-import-each-other'],
  ['libs/catalog/src/planted.ts', `import '#queue';`, 'catalog-imports-providers-and-below'],
  [
    'libs/infrastructure/src/planted.ts',
    `import '#catalog';`,
    'infrastructure-imports-configured-libraries-and-below',
  ],
  ['apps/worker/src/planted.ts', `import '../../gateway/src/main.js';`, 'apps-never-import-each-other'],
  [
    'libs/providers/src/providers/bfl/planted.ts',
    `import '../google/google.js';`,
    'one-provider-never-imports-another',
  ],
  ['apps/simulator/src/planted.ts', `import '#providers';`, 'simulator-knows-no-adapter'],
  [
    'apps/worker/src/runs/planted.ts',
    `import '../../../../libs/queue/src/run-queues.js';`,
    'one-door-a-library',
  ],
  ['apps/worker/src/calls/planted.ts', `import 'bullmq';`, 'only-queue-knows-bullmq-and-redis'],
  ['apps/gateway/src/planted.ts', `import 'pg';`, 'only-persistence-knows-sql'],
  ['libs/catalog/src/planted-too.ts', `import '@nestjs/common';`, 'plain-libraries-know-no-nest'],
] as const;

const lines = [
  ['libs/errors/src/planted-lines.ts', '// a line\n'.repeat(400), 'max-lines'],
  ['libs/errors/src/planted-promise.ts', 'Promise.resolve(1);', 'no-floating-promises'],
  [
    'libs/errors/src/planted-switch.ts',
    `export function planted(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      break;\n  }\n}`,
    'switch-exhaustiveness-check',
  ],
  [
    'apps/gateway/src/planted-comments.ts',
    String.raw`export const planted = (text: string) => /^(<!--[^]*?-->\s*)*<svg/.test(text);`,
    'redos(no-vulnerable)',
  ],
  [
    'libs/storage/src/planted-blanks.ts',
    'export const planted = (text: string) => text.split(/ *;/);',
    'redos(no-vulnerable)',
  ],
  ['test/runs/planted.spec.ts', `import { least } from '../harness/faults.js';`, 'no-restricted-imports'],
  ['test/runs/planted-kill.spec.ts', `process.kill(1, 'SIGTERM');`, 'no-restricted-properties'],
  ['test/runs/planted-wait.spec.ts', 'setTimeout(() => {}, 1_000);', 'no-restricted-globals'],
  [
    'libs/errors/src/planted.spec.ts',
    `import { setTimeout } from 'node:timers/promises';`,
    'no-restricted-imports',
  ],
] as const;

describe('the check of import directions', () => {
  let clean: Ended;
  let mistaken: Ended;

  beforeAll(async () => {
    clean = await check('imports');
    mistaken = await planted(imports, 'imports');
  }, 2 * withinMs);

  it('passes for the current sources', () => expect(clean).toMatchObject({ code: 0 }));

  it.each(imports)('rejects in %s: %s', (file, _text, rule) => {
    expect(mistaken.code).not.toBe(0);
    expect(mistaken.output).toMatch(new RegExp(`error ${rule}: ${file.replaceAll('.', '\\.')}`));
  });
});

describe('the lint', () => {
  let mistaken: Ended;

  beforeAll(async () => {
    mistaken = await planted(lines, 'lint');
  }, withinMs);

  it.each(lines)('rejects the mistake planted in %s', (file, _text, rule) => {
    expect(mistaken.code).not.toBe(0);
    expect(mistaken.output).toContain(rule);
    expect(mistaken.output).toContain(file);
  });
});

describe('the other checks', () => {
  it('of language passes for the current sources', async () => {
    expect(await check('language')).toMatchObject({ code: 0 });
  });

  it(
    'of unused rejects a name of an index that only a test imports',
    async () => {
      const { code, output } = await planted(
        [
          ['libs/storage/src/index.ts', `export type { StorageFailure } from './port.js';`, ''],
          ['test/storage/planted.spec.ts', `import type { StorageFailure } from '#storage';`, ''],
        ],
        'unused',
      );
      expect(code).not.toBe(0);
      expect(output).toContain('libs/storage/src/index.ts exports StorageFailure');
    },
    withinMs,
  );

  it.each([
    ['unused', 'libs/errors/src/buckets.ts', 'export const planted = 1;', 'planted'],
    [
      'imports',
      'apps/gateway/src/http/planted.ts',
      `import '../runs/refusal.js';`,
      'no-cycle-between-folders',
    ],
    ['types', 'libs/errors/src/buckets.ts', `export const planted: number = 'one';`, 'TS2322'],
    [
      'migrations',
      'libs/persistence/src/migrations/1763700000000-initial-schema.sql',
      'ALTER TABLE run ADD planted integer;',
      'is frozen: write a new migration',
    ],
    [
      'migrations',
      'libs/persistence/src/migrations/2000000000000-planted.sql',
      'ALTER TABLE run ADD planted integer;',
      'is not listed',
    ],
    [
      'language',
      'libs/errors/src/buckets.ts',
      '// What is planted here lacks a subject.',
      'no subject: What is planted here',
    ],
    [
      'language',
      'apps/worker/src/main.ts',
      '// The planted run is in the air.',
      `'in the air'; say in flight`,
    ],
    ['language', 'README.md', 'A sentence. Of this one nobody knows the subject.', 'no subject: Of this one'],
  ])(
    'of %s rejects the mistake planted in %s',
    async (name, file, text, said) => {
      const { code, output } = await planted([[file, text, said]], name);
      expect(code).not.toBe(0);
      expect(output).toContain(said);
    },
    withinMs,
  );
});
