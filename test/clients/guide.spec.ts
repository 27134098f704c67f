import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { filesBelow, pathOf, textOf } from '../documents/checkout-files.js';
import { failOnLeftovers, sharedSystem, temporaryFolder, transports } from '../harness/index.js';
import { pythonWithHttpx } from './python-programs.js';
import { tinyImage } from './tiny-image.js';

const [transport = 'postgres'] = transports();

const python = pythonWithHttpx() ?? 'python3 with httpx';

/** How to run a snippet, by the language of its fence. Snippets in other languages, such as `console`, don't run. */
const programs: Record<string, [needs: string, command: string[]]> = {
  sh: ['curl', ['bash', '-eo', 'pipefail', '-c']],
  js: [process.execPath, [process.execPath, '--input-type=module', '--eval']],
  python: [python, [python, '-c']],
};
/** Snippets with third-party clients run in test/operations, and these of Python in python-guide.spec.ts. */
const foreign = /from '@(fal-ai|comfyorg|langchain)\/|^from (fastapi|flask|django)\b|router\.stream\(/m;

const snippets = filesBelow('docs/guide').flatMap((page) =>
  [...textOf(page).matchAll(/(?<=\n)```(\w+)\n([^]*?)\n```/g)]
    .map(([, language = '', text = '']) => ({ language, text }))
    .filter(({ language, text }) => language in programs && !foreign.test(text))
    .map(({ language, text }, index) => ({ name: `${page} ${index + 1}, ${language}`, language, text })),
);
const runnable = snippets.filter(({ language }) => {
  const [needs = ''] = programs[language] ?? [];
  return spawnSync(needs, ['--version']).error === undefined;
});

describe('the guide for callers', () => {
  const system = sharedSystem(transport);
  let folder: string;

  beforeAll(() => {
    folder = temporaryFolder('reader');
    mkdirSync(path.join(folder, 'node_modules'));
    writeFileSync(path.join(folder, 'photo.png'), tinyImage);
    symlinkSync(pathOf('libs/client'), path.join(folder, 'node_modules', 'model-router-client'));
    for (const name of [
      'ai',
      'express',
      'hono',
      'openai',
      'replicate',
      '@anthropic-ai/sdk',
      '@google/genai',
      '@ai-sdk/openai',
      '@ai-sdk/anthropic',
    ]) {
      const link = path.join(folder, 'node_modules', name);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(pathOf(`node_modules/${name}`), link);
    }
  });

  it('has snippets in each language', () => {
    expect([...new Set(snippets.map(({ language }) => language))].sort()).toEqual(['js', 'python', 'sh']);
  });

  it.concurrent.each(runnable)('runs $name', async ({ language, text }) => {
    const caller = await system.caller({}, undefined, [
      'catalog',
      'run',
      'requests',
      'usage',
      'provider_keys',
      'manage',
    ]);
    const { requestId } = await caller.submit('bfl/flux-2-pro', '{"prompt": "a red fox"}');
    const [program = '', ...options] = programs[language]?.[1] ?? [];
    const env = {
      ...process.env,
      BASE_URL: system.gateways[0]?.url ?? '',
      API_KEY: caller.key,
      RUNS: `${system.gateways[0]?.url}/v2/models/bfl/flux-2-pro/requests`,
      ID: requestId,
      PYTHONPATH: pathOf('libs/client/dist/python'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const { stdout } = await promisify(execFile)(program, [...options, text], {
      cwd: folder,
      env,
      timeout: 60_000,
    });
    expect(stdout.trim()).not.toBe('');
    expect(stdout).not.toMatch(/"error_type":"(?!provider_error)/);
  });
});

failOnLeftovers();
