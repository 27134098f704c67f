import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadCatalog } from '#catalog';
import { pathOf, textOf } from '../documents/checkout-files.js';
import { failOnLeftovers, temporaryFolder } from '../harness/index.js';
import { mypy, pythonWithHttpx } from './python-programs.js';

const pyright = createRequire(import.meta.url).resolve('pyright/index.js');
const checker = mypy();
const python = pythonWithHttpx();
const programs = 'test/clients/python/types';

interface Found {
  file: string;
  line: number;
  message: string;
}

/** The lines of a program that say that they have an error. */
const wrongLines = textOf(`${programs}/wrong.py`)
  .split('\n')
  .flatMap((text, index) => (text.endsWith('# error') ? [index + 1] : []));

const linesOf = (found: readonly Found[]) => [...new Set(found.map(({ line }) => line))];

async function outputOf(program: string, words: readonly string[], env: Record<string, string> = {}) {
  // Both programs fail if they find errors.
  return promisify(execFile)(program, words, {
    env: { ...process.env, ...env },
    timeout: 150_000,
    maxBuffer: 16 * 1024 * 1024,
  }).catch((error: { stdout: string; stderr: string }) => error);
}

async function mypyErrors(files: readonly string[], env: Record<string, string> = {}): Promise<Found[]> {
  const words = [
    '--strict',
    '--no-error-summary',
    '--python-version',
    '3.10',
    '--cache-dir',
    folder,
    ...files,
  ];
  const { stdout, stderr } = await outputOf(checker ?? '', words, env);
  if (stderr !== '') throw new Error(stderr);
  return [...stdout.matchAll(/^(\S+?):(\d+): (?:error|note): (?!.* defined here$)(.*)$/gm)].map(
    ([, file = '', line = '', message = '']) => ({ file: path.basename(file), line: Number(line), message }),
  );
}

async function pyrightErrors(): Promise<Found[]> {
  const words = [pyright, '--outputjson', '--pythonpath', python ?? '', '--project', folder];
  const { stdout } = await outputOf(process.execPath, words);
  const { generalDiagnostics } = JSON.parse(stdout) as {
    generalDiagnostics: { file: string; message: string; range: { start: { line: number } } }[];
  };
  return generalDiagnostics.map(({ file, message, range }) => ({
    file: path.basename(file),
    line: range.start.line + 1,
    message,
  }));
}

/** A program that gives the example of each model, and its example output, the types of that model. */
async function examples(): Promise<string> {
  const stub = textOf('libs/client/dist/python/model_router/_model_calls.pyi');
  const typed = stub.matchAll(/^ {4}def run\(self, model: Literal\["(.+?)"\], input: models\.(\w+)Input /gm);
  const names = new Map([...typed].map(([, id, name]) => [id, name]));
  const { models } = await loadCatalog();
  expect(models.filter(({ id }) => !names.has(id))).toEqual([]);
  const lines = models.flatMap(({ id, example, output }, index) => {
    const name = names.get(id) ?? '';
    const isJson = output?.example !== undefined && output.mediaType.endsWith('json');
    return [
      `input_${index}: models.${name}Input = ${pythonOf(example)}\n`,
      ...(isJson ? [`output_${index}: models.${name}Output = ${pythonOf(output.example)}\n`] : []),
    ];
  });
  return `from model_router import models\n\n${lines.join('')}`;
}

function pythonOf(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, of]) => `${JSON.stringify(name)}: ${pythonOf(of)}`);
  return `{${members.join(', ')}}`;
}

let folder = '';

beforeAll(async () => {
  folder = temporaryFolder('python-types');
  cpSync(pathOf(programs), folder, { recursive: true });
  cpSync(pathOf('libs/client/python/model_router'), path.join(folder, 'client'), { recursive: true });
  writeFileSync(path.join(folder, 'examples.py'), await examples());
  // A checker does not judge an installed package.
  cpSync(pathOf('libs/client/dist/python'), path.join(folder, 'installed'), { recursive: true });
  const settings = {
    include: ['*.py', 'client'],
    extraPaths: ['installed'],
    typeCheckingMode: 'strict',
    pythonVersion: '3.10',
  };
  writeFileSync(path.join(folder, 'pyrightconfig.json'), JSON.stringify(settings));
});

(python !== undefined && checker !== undefined ? describe : describe.skip)('mypy, with --strict', () => {
  it('finds nothing in the client itself', async () => {
    expect(await mypyErrors([pathOf('libs/client/python/model_router')])).toEqual([]);
  }, 160_000);

  it('finds each wrong id and field in a line of its own, and nothing in right programs and in examples of models', async () => {
    const files = ['right.py', 'wrong.py', 'examples.py'].map((file) => path.join(folder, file));
    const found = await mypyErrors(files, { MYPYPATH: path.join(folder, 'installed') });
    expect(found.filter(({ file }) => file !== 'wrong.py')).toEqual([]);
    expect(linesOf(found)).toEqual(wrongLines);
    // Not the overloads of all models.
    expect(found.length).toBeLessThan(2 * wrongLines.length);
  }, 160_000);
});

(python !== undefined ? describe : describe.skip)('pyright, in strict mode', () => {
  it('finds nothing in the client and in right programs, and names the input of the model in wrong ones', async () => {
    const found = await pyrightErrors();
    expect(found.filter(({ file }) => file !== 'wrong.py')).toEqual([]);
    expect(linesOf(found).sort((one, other) => one - other)).toEqual(wrongLines);
    const typo =
      textOf(`${programs}/wrong.py`)
        .split('\n')
        .findIndex((text) => text.includes('"promt"')) + 1;
    const messages = found.filter(({ line }) => line === typo).map(({ message }) => message);
    expect(messages.join('\n')).toContain('BflFlux2ProInput');
  }, 160_000);
});

failOnLeftovers();
