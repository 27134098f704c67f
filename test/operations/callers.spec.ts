import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { pathOf } from '../documents/checkout-files.js';
import { freePort, System } from '../harness/faults.js';
import { failOnLeftovers, newTag, temporaryFolder, type TestCaller, transports } from '../harness/index.js';

const run = promisify(execFile);

describe('what callers build with', () => {
  let system: System;
  let caller: TestCaller;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    const [transport = 'postgres'] = transports();
    system = await System.start({ transport });
    caller = await system.caller();
    env = { ...process.env, BASE_URL: system.gateways[0]?.url ?? '', API_KEY: caller.key };
  });
  afterAll(() => system.stop());

  const node = async (options: string[], more: NodeJS.ProcessEnv = {}, cwd = pathOf('.')) =>
    (await run(process.execPath, options, { cwd, env: { ...env, ...more }, timeout: 120_000 })).stdout;

  it.each([
    ['of today', ''],
    ['of a year ago', '2025-06-18'],
  ])('the official client of MCP works with every tool, in the protocol %s', async (_when, versions) => {
    const said = JSON.parse(
      await node([pathOf('test/operations/agent.mjs')], { VERSIONS: versions }),
    ) as Record<string, { text: string; isError: boolean }>;
    expect(said).toMatchObject({
      tools: ['find_models', 'describe_model', 'run_model', 'get_run', 'cancel_run'],
      found: { isError: false, text: expect.stringContaining('"has_more": true') },
      described: { isError: false, text: expect.stringContaining('"prompt"') },
      ran: { isError: false, text: expect.stringContaining('"Ready"') },
      refused: { isError: true, text: expect.stringMatching(/^invalid_input: /) },
      cancelled: { isError: false, text: expect.stringContaining('CANCELLATION_REQUESTED') },
    });
    expect(said['followed']?.text).toMatch(/client_disconnected|COMPLETED/);
  });

  it('the node of ComfyUI runs a model and loads its image', async () => {
    // Stands in for the packages that ComfyUI brings.
    const program = `
import sys, types
for name in ("numpy", "torch", "PIL"):
    sys.modules[name] = types.ModuleType(name)
sys.path.insert(0, "examples")
node = __import__("comfyui-node")
node.tensor = lambda data: data[:8]
image, url = node.NODE_CLASS_MAPPINGS["RouterImage"]().run("bfl/flux-2-pro", "a red fox")
print(image, url)`;
    const PYTHONPATH = pathOf('libs/client/python');
    const more = { ...env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run('python3', ['-c', program], {
      cwd: pathOf('.'),
      env: more,
      timeout: 60_000,
    });
    expect(stdout).toMatch(/^b'\\x89PNG.*' http/);
  });

  describe('the package of the TypeScript client and the examples, installed into an empty folder', () => {
    let folder: string;
    let packages: string[];

    beforeAll(async () => {
      folder = temporaryFolder('consumer');
      const { stdout } = await run(
        'npm',
        ['pack', '--silent', pathOf('libs/client'), pathOf('examples/batch')],
        { cwd: folder },
      );
      packages = stdout
        .trim()
        .split('\n')
        .map((name) => path.join(folder, name));
      writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
      const install = ['install', '--silent', '--offline', '--no-audit', '--no-fund', packages[0] ?? ''];
      await run('npm', install, { cwd: folder, timeout: 120_000 });
    });

    it('runs a model in five lines', async () => {
      const program = `
        import { createRouter } from 'model-router-client';
        const router = createRouter({ baseUrl: process.env.BASE_URL, key: process.env.API_KEY });
        const { output } = await router.run('bfl/flux-2-pro', { prompt: 'a red fox in the snow' });
        console.log(output.result.sample);`;
      expect(await node(['--input-type=module', '--eval', program], {}, folder)).toMatch(/^http/);
    });

    it('serves the route of a web application', async () => {
      cpSync(pathOf('examples/web-app'), path.join(folder, 'web-app'), { recursive: true });
      const route = path.join(folder, 'web-app/app/api/images/route');
      const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom'];
      await node(
        [
          pathOf('node_modules/typescript/bin/tsc'),
          ...options,
          '--types',
          'node',
          '--typeRoots',
          pathOf('node_modules/@types'),
          '--skipLibCheck',
          `${route}.ts`,
        ],
        {},
        folder,
      );
      const program = `
        const { POST } = await import(${JSON.stringify(`${route}.js`)});
        const send = (prompt) =>
          POST(new Request('http://app.test', { method: 'POST', body: JSON.stringify({ prompt }) }));
        const answers = [await send('a red fox'), await send('[[sim:policy_output]]')];
        console.log(JSON.stringify(await Promise.all(answers.map(async (each) => [each.status, await each.json()]))));`;
      expect(JSON.parse(await node(['--input-type=module', '--eval', program], {}, folder))).toEqual([
        [200, { url: expect.stringMatching(/^http/) }],
        [422, { error: expect.any(String) }],
      ]);
    });

    it('does a batch by npx in an empty folder, and pays once for one that is started again', async () => {
      const empty = temporaryFolder('batch');
      const tags = ['fox', 'hare', 'owl'].map(newTag);
      writeFileSync(path.join(empty, 'prompts.txt'), tags.map((tag) => `[[sim:tag=${tag}]]\n`).join(''));
      const port = String(await freePort());
      const [secret = ''] = (await system.operate((all) => all.find(caller.workspace))).webhookSecrets;
      const options = { PORT: port, WEBHOOK_URL: `http://127.0.0.1:${port}/done`, WEBHOOK_SECRET: secret };
      const batch = async () => {
        const { stdout } = await run(
          'npx',
          [
            '--yes',
            '--offline',
            ...packages.flatMap((each) => ['-p', each]),
            'model-router-batch',
            'prompts.txt',
          ],
          { cwd: empty, env: { ...env, ...options }, timeout: 120_000 },
        );
        const lines = stdout.trim().split('\n');
        return lines.map((line) => (JSON.parse(line) as { url: string }).url).sort();
      };
      const first = await batch();
      expect([first.length, await batch()]).toEqual([3, first]);
      for (const tag of tags) expect((await system.partner.peaks(tag)).accepted).toBe(1);
    });

    it('types what each model takes and gives', async () => {
      const program = `
        import { createRouter, RouterError } from 'model-router-client';
        const router = createRouter({ baseUrl: '', key: '' });
        const { output } = await router.run('bfl/flux-2-pro', { prompt: 'x', input_image: new Blob([]) });
        const url: string | undefined = output.result?.sample;
        // @ts-expect-error a prompt is a text
        await router.run('bfl/flux-2-pro', { prompt: 1 });
        // @ts-expect-error a prompt is required
        await router.run('bfl/flux-2-pro', {});
        // @ts-expect-error a format is one of three
        await router.run('bfl/flux-2-pro', { prompt: 'x', output_format: 'bmp' });
        await router.run('acme/paint', { anything: 1 });
        const sound: Blob = (await router.run('openai/tts-1', { input: 'x', voice: 'ash' })).output;
        try { throw url ?? sound; } catch (error) {
          if (error instanceof RouterError && error.bucket === 'rate_limited') throw error;
        }`;
      mkdirSync(path.join(folder, 'src'));
      writeFileSync(path.join(folder, 'src', 'main.ts'), program);
      const options = [
        '--strict',
        '--noEmit',
        '--module',
        'nodenext',
        '--target',
        'es2022',
        '--lib',
        'es2023,dom',
      ];
      const tsc = [pathOf('node_modules/typescript/bin/tsc'), ...options, 'src/main.ts'];
      expect(await node(tsc, {}, folder).catch((error: { stdout: string }) => error.stdout)).toBe('');
    });
  });
});

failOnLeftovers();
