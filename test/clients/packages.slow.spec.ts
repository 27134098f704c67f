import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { pathOf } from '../documents/checkout-files.js';
import { failOnLeftovers, sharedSystem, temporaryFolder, transports } from '../harness/index.js';
import { pythonWithHttpx } from './python-programs.js';
import { typeCheck } from './type-check.js';

const [transport = 'postgres'] = transports();
const execute = promisify(execFile);
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const wheel = `model_router_client-${version}-py3-none-any.whl`;

const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
const python = pythonWithHttpx();
if (!hasPip) {
  if (process.env['NO_SKIP'] === '1') throw new Error('NO_SKIP=1, but pip is not installed');
  process.stderr.write('skipping the installation of the Python client: pip is not installed\n');
}

/** A program with calls that fit the models and calls that do not. */
const program = `
import { createRouter, type CostEstimate, type Router, type ServerSentEvent } from 'model-router-client';
declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };

const router: Router = createRouter({ baseUrl: process.env['BASE_URL'], key: process.env['API_KEY'], timeoutMs: undefined });
void router.run('bfl/flux-2-pro', { prompt: 'a red fox' }, { extra: { tomorrow: 1 } }).then(({ output }) => {
  const sample: string = output.result.sample;
  process.stdout.write(sample);
});
export const right = async (anyId: string, event: { prompt: string }) => {
  const cost: CostEstimate = await router.cost('bfl/flux-2-pro', { prompt: 'a', input_image: new Blob([]) });
  const subscribed = await router.subscribe('bfl/flux-2-pro', event, { onProgress: (share) => share + 1 });
  const sample: string = subscribed.output.result.sample;
  const run = await router.submit('bfl/flux-2-pro', '{"prompt": "a"}');
  const collected: string = (await router.collect(run)).output.result.sample;
  for await (const each of router.stream('openai/gpt-5', { input: 'a' })) ((text: ServerSentEvent) => text.data)(each);
  const other = await router.run(anyId, { whatever: true });
  await router.run('acme/new' as string, { whatever: true });
  return [cost.expected_cents, sample, collected, other.output];
};
export const wrong = () => [
  // @ts-expect-error the prompt is a text
  router.run('bfl/flux-2-pro', { prompt: 1 }),
  // @ts-expect-error the prompt is missing
  router.run('bfl/flux-2-pro', {}),
  // @ts-expect-error a misspelled field
  router.run('bfl/flux-2-pro', { prompt: 'a', hieght: 1024 }),
  // @ts-expect-error a misspelled id
  router.run('bfl/flux-9-pro', { prompt: 'a' }),
  // @ts-expect-error a misspelled field
  router.submit('bfl/flux-2-pro', { prompt: 'a', hieght: 1024 }),
  // @ts-expect-error a misspelled id
  router.submit('bfl/flux-9-pro', { prompt: 'a' }),
  // @ts-expect-error a misspelled field
  router.cost('bfl/flux-2-pro', { prompt: 'a', hieght: 1024 }),
  // @ts-expect-error a misspelled id
  router.cost('bfl/flux-9-pro', { prompt: 'a' }),
  // @ts-expect-error a misspelled field
  router.subscribe('bfl/flux-2-pro', { prompt: 'a', hieght: 1024 }),
  // @ts-expect-error a misspelled id
  router.subscribe('bfl/flux-9-pro', { prompt: 'a' }),
  // @ts-expect-error a misspelled field
  router.stream('openai/gpt-5', { input: 'a', inptu: 'a' }),
  // @ts-expect-error a misspelled id
  router.stream('openai/gpt-9', { input: 'a' }),
  // @ts-expect-error not a state
  router.requests.list({ status: 'DONE' }),
  // @ts-expect-error not a grouping
  router.usage({ groupBy: 'provider' }),
];
`;

const sdkProgram = `
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { ProviderV3 } from '@ai-sdk/provider';
import { experimental_generateSpeech, experimental_generateVideo, experimental_transcribe, generateImage, streamText } from 'ai';
import { createRouter } from 'model-router-client';
import { createProvider } from 'model-router-client/ai';

const models = createProvider(createRouter({ baseUrl: '', key: '' }), {
  onRun: ({ runId }) => runId.length,
  languageModels: { openai: createOpenAI, anthropic: createAnthropic, vertexai: createGoogleGenerativeAI },
});
export const provider: ProviderV3 = models;
export const calls = async () => {
  const { images } = await generateImage({ model: models.image('bfl/flux-2-pro'), prompt: 'a red fox' });
  const { videos } = await experimental_generateVideo({ model: models.video('luma/ray-2'), prompt: 'a dog' });
  const { audio } = await experimental_generateSpeech({ model: models.speech('openai/tts-1'), text: 'hello' });
  const { text } = await experimental_transcribe({ model: models.transcription('openai/whisper-1'), audio: new Uint8Array() });
  const { textStream } = streamText({ model: models.languageModel('openai/gpt-5.5'), prompt: 'hello' });
  for await (const part of textStream) void part.length;
  return [images.length, videos.length, audio.mediaType, text];
};
// @ts-expect-error an image model makes no videos
export const wrong = () => experimental_generateVideo({ model: models.image('bfl/flux-2-pro'), prompt: 'a dog' });
`;

/** How TypeScript resolves the package, by the kind of project. */
const projects: [kind: string, file: string, options: Record<string, string>][] = [
  ['an ES module', 'module.mts', { module: 'nodenext' }],
  ['CommonJS', 'common.cts', { module: 'node16' }],
  [
    'CommonJS as before exports maps',
    'older.ts',
    { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' },
  ],
  ['a bundled application', 'bundled.mts', { module: 'esnext', moduleResolution: 'bundler' }],
];

describe('the clients of a running gateway', () => {
  const system = sharedSystem(transport);
  const url = () => system.gateways[0]?.url ?? '';
  let folder: string;

  beforeAll(async () => {
    folder = temporaryFolder('empty');
    mkdirSync(path.join(folder, 'app'));
    const install = [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--cache',
      path.join(folder, 'cache'),
    ];
    await execute('npm', [...install, `${url()}/clients/model-router-client.tgz`], {
      cwd: path.join(folder, 'app'),
      timeout: 120_000,
    });
  });

  it.each(projects)(
    'npm installs a package whose types and code work in %s',
    async (_kind, file, options) => {
      const app = path.join(folder, 'app');
      writeFileSync(path.join(app, file), program);
      await typeCheck(app, file, options);
      const { key } = await system.caller();
      const built = path.join(app, 'built', file.replace(/ts$/, 'js'));
      const { stdout } = await execute(process.execPath, [built], {
        cwd: app,
        env: { BASE_URL: url(), API_KEY: key },
        timeout: 60_000,
      });
      expect(stdout).toMatch(/^http/);
    },
  );

  it('has a provider that the types of the ai SDK accept, as an ES module and in CommonJS', async () => {
    const app = path.join(folder, 'app');
    for (const name of [
      'ai',
      '@ai-sdk',
      '@opentelemetry',
      'zod',
      '@standard-schema',
      'json-schema',
      '@types',
      'eventsource-parser',
      '@vercel',
    ])
      if (existsSync(pathOf(`node_modules/${name}`)) && !existsSync(path.join(app, 'node_modules', name)))
        symlinkSync(pathOf(`node_modules/${name}`), path.join(app, 'node_modules', name));
    const options = { skipLibCheck: true, noEmit: true };
    for (const [file, module] of [
      ['sdk.mts', 'nodenext'],
      ['sdk.cts', 'nodenext'],
    ] as const) {
      writeFileSync(path.join(app, file), sdkProgram);
      await typeCheck(app, file, { ...options, module });
    }
  });

  const describePip = hasPip && python !== undefined ? describe : describe.skip;
  describePip('with pip', () => {
    it('installs the Python client from its URL, and from the list of packages', async () => {
      // The packages that the client needs come from elsewhere.
      const quiet = ['--no-index', '--no-deps', '--no-cache-dir', '--disable-pip-version-check', '--target'];
      const targets: [string, string[]][] = [
        ['by-url', [`${url()}/clients/${wheel}`]],
        ['by-list', ['--find-links', `${url()}/clients`, 'model-router-client']],
      ];
      const { key } = await system.caller();
      for (const [target, words] of targets) {
        const site = path.join(folder, target);
        await execute('python3', ['-m', 'pip', 'install', ...quiet, site, ...words], { timeout: 120_000 });
        const code = `import os
from model_router import Router
print(Router(os.environ["BASE_URL"], key=os.environ["API_KEY"]).run("bfl/flux-2-pro", {"prompt": "x"}).output["result"]["sample"])`;
        const { stdout } = await execute(python ?? '', ['-c', code], {
          cwd: folder,
          env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: site, BASE_URL: url(), API_KEY: key },
          timeout: 60_000,
        });
        expect(stdout).toMatch(/^http/);
      }
    });
  });
});

failOnLeftovers();
