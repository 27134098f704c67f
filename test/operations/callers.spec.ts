import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { pythonWithHttpx } from '../clients/python-programs.js';
import { pathOf } from '../documents/checkout-files.js';
import { freePort, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  newTag,
  temporaryFolder,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';

const run = promisify(execFile);
const python = pythonWithHttpx() ?? 'python3';
const examples = ['web-app', 'batch', 'comfyui-node'];

/** Stubs of the packages in ComfyUI's Python, as far as the node uses them. */
const broughtByComfy = {
  'numpy.py': 'float32 = "float32"\ndef array(image): return image\n',
  'torch.py': 'def from_numpy(pixels): return pixels\n',
  'PIL/Image.py': `
class Pixels:
    def __init__(self, kind): self.shape = (kind,)
    def convert(self, _mode): return self
    def astype(self, _type): return self
    def __truediv__(self, _by): return self
    def __getitem__(self, _at):
        batch = Pixels("")
        batch.shape = (1, *self.shape)
        return batch
def open(file):
    kind = file.read()[1:4]
    if kind != b"PNG": raise OSError("cannot identify image file")
    return Pixels(kind.decode())
`,
  'PIL/__init__.py': '',
};

describe('the clients and examples', () => {
  let system: System;
  let caller: TestCaller;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    const [transport = 'postgres'] = transports();
    system = await System.start({ transport });
    caller = await system.caller({}, undefined, ['catalog', 'run', 'requests']);
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
      tools: [
        'find_models',
        'describe_model',
        'estimate_cost',
        'run_model',
        'get_run',
        'cancel_run',
        'list_runs',
        'upload_file',
      ],
      found: { isError: false, text: expect.stringContaining('"next_cursor"') },
      priced: { isError: false, text: expect.stringContaining('"expected_cents":3') },
      listed: { isError: false, text: expect.stringContaining(`"model":"bfl/flux-2-pro"`) },
      uploaded: { isError: false, text: expect.stringContaining('"content_type":"text/plain"') },
      described: { isError: false, text: expect.stringContaining('"prompt"') },
      ran: { isError: false, text: expect.stringContaining('"Ready"') },
      refused: { isError: true, text: expect.stringMatching(/^invalid_input: /) },
      cancelled: { isError: false, text: expect.stringContaining('CANCELLATION_REQUESTED') },
    });
    expect(said['followed']?.text).toMatch(/client_disconnected|COMPLETED/);
  });

  describe('the package of the TypeScript client and the examples, installed into an empty folder', () => {
    let folder: string;
    let packages: string[];

    const npx = (...command: string[]) => [
      '--yes',
      '--offline',
      ...packages.flatMap((each) => ['-p', each]),
      ...command,
    ];

    beforeAll(async () => {
      folder = temporaryFolder('consumer');
      const { stdout } = await run(
        'npm',
        ['pack', '--silent', ...['libs/client', ...examples.map((each) => `examples/${each}`)].map(pathOf)],
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

    it('starts a web application with npx in an empty folder', async () => {
      const port = String(await freePort());
      const options = {
        cwd: temporaryFolder('web-app'),
        env: { ...env, PORT: port },
        detached: true,
      } as const;
      const app = spawn('npx', npx('model-router-web-app'), { ...options, stdio: 'ignore' });
      try {
        const page = await waitFor(() => fetch(`http://localhost:${port}`).catch(() => null), {
          withinMs: 120_000,
          what: 'the page',
        });
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/api/images')]);
        const send = async (prompt: string) => {
          const body = JSON.stringify({ prompt });
          const answer = await fetch(`http://localhost:${port}/api/images`, { method: 'POST', body });
          return [answer.status, await answer.json()];
        };
        expect(await Promise.all([send('a red fox'), send('[[sim:policy_output]]')])).toEqual([
          [200, { url: expect.stringMatching(/^http/) }],
          [422, { error: expect.any(String) }],
        ]);
      } finally {
        const left = once(app, 'exit');
        // The whole group, because npx's child processes do not end with it.
        if (app.pid !== undefined) process.kill(-app.pid);
        await left;
      }
    });

    it('type-checks a route of a web application', async () => {
      cpSync(pathOf('examples/web-app/app'), path.join(folder, 'app'), { recursive: true });
      const options = ['--strict', '--allowJs', '--checkJs', '--noEmit', '--module', 'nodenext'];
      const types = ['--target', 'es2022', '--lib', 'es2023,dom', '--skipLibCheck', '--types', 'node'];
      const roots = ['--typeRoots', pathOf('node_modules/@types'), 'app/api/images/route.js'];
      const tsc = [pathOf('node_modules/typescript/bin/tsc'), ...options, ...types, ...roots];
      expect(await node(tsc, {}, folder).catch((error: { stdout: string }) => error.stdout)).toBe('');
    });

    const nodeInComfy = async (more: NodeJS.ProcessEnv, ...options: string[]) => {
      const comfy = temporaryFolder('comfyui');
      const brought = path.join(comfy, 'brought');
      for (const each of ['custom_nodes', 'brought/PIL'])
        mkdirSync(path.join(comfy, each), { recursive: true });
      for (const [file, text] of Object.entries(broughtByComfy))
        writeFileSync(path.join(brought, file), text);
      const { stdout } = await run('npx', npx('model-router-comfyui-node', comfy, ...options), {
        cwd: temporaryFolder('empty'),
        env: { ...env, PYTHON: python, PYTHONPATH: brought, PYTHONDONTWRITEBYTECODE: '1', ...more },
        timeout: 120_000,
      });
      return stdout;
    };

    it('installs the ComfyUI node with npx in an empty folder, where it loads and makes an image', async () => {
      expect(await nodeInComfy({}, '--run')).toMatch(
        /^installed: .+model-router\nloads: RouterImage, .+\nreaches: \d{3} models\nruns: bfl\S+ \(1, 'PNG'\) http\S+\n$/,
      );
    });

    it('makes images with models that return bytes or base64, and names a model that returns no image', async () => {
      const images = ['openai/gpt-image-1.5', 'stability/stable-image-core', 'luma/photon-1'];
      expect((await nodeInComfy({}, '--run', ...images)).split('\n').slice(3, -1)).toEqual([
        "runs: openai/gpt-image-1.5 (1, 'PNG')",
        "runs: stability/stable-image-core (1, 'PNG')",
        expect.stringMatching(/^runs: luma\/photon-1 \(1, 'PNG'\) http/),
      ]);
      await expect(nodeInComfy({}, '--run', 'luma/ray-2')).rejects.toMatchObject({
        stderr: expect.stringMatching(/ValueError: luma\/ray-2 answered, and was paid, .+ http\S+\.mp4/),
      });
    });

    it('says what is missing without a ComfyUI or a router', async () => {
      const there = { cwd: temporaryFolder('nothing'), env, timeout: 120_000 };
      await expect(run('npx', npx('model-router-comfyui-node', '.'), there)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^Name the folder of a ComfyUI: .+custom_nodes does not exist/),
      });
      await expect(nodeInComfy({ BASE_URL: '' })).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^Give BASE_URL/),
      });
    });

    /** Three lines in an empty folder, and the program that runs them. */
    async function batchOf({ workspace, key }: TestCaller) {
      const empty = temporaryFolder('batch');
      const tags = ['fox', 'hare', 'owl'].map(newTag);
      writeFileSync(path.join(empty, 'prompts.txt'), tags.map((tag) => `[[sim:tag=${tag}]]\n`).join(''));
      const port = String(await freePort());
      const [secret = ''] = (await system.operate((all) => all.find(workspace))).webhookSecrets;
      const options = { PORT: port, WEBHOOK_URL: `http://127.0.0.1:${port}/done`, WEBHOOK_SECRET: secret };
      const start = async () => {
        const { stdout } = await run('npx', npx('model-router-batch', 'prompts.txt'), {
          cwd: empty,
          env: { ...env, ...options, API_KEY: key },
          timeout: 180_000,
        });
        const lines = stdout.trim().split('\n');
        return lines.map((line) => (JSON.parse(line) as { url: string }).url).sort();
      };
      const accepted = () => Promise.all(tags.map((tag) => system.provider.accepted(tag)));
      return { start, accepted };
    }

    it('runs a batch with npx in an empty folder, and pays once if it is restarted', async () => {
      const { start, accepted } = await batchOf(caller);
      const first = await start();
      expect(first).toEqual(Array(3).fill(expect.stringMatching(/^http/)));
      expect(await start()).toEqual(first);
      expect(await accepted()).toEqual([1, 1, 1]);
    });

    it('runs a batch with more lines than the limit per minute', async () => {
      const { start, accepted } = await batchOf(await system.caller({ windowLimit: 2 }));
      expect(await start()).toEqual(Array(3).fill(expect.stringMatching(/^http/)));
      expect(await accepted()).toEqual([1, 1, 1]);
    });

    it('types what each model takes and gives', async () => {
      const program = `
        import { createRouter, RouterError } from 'model-router-client';
        const router = createRouter({ baseUrl: '', key: '' });
        const { output } = await router.run('bfl/flux-2-pro', { prompt: 'x', input_image: new Blob([]) });
        const url: string | undefined = output.result?.sample;
        const run = await router.submit('bfl/flux-2-pro', { prompt: 'x' });
        export const sample: string = (await router.collect(run)).output.result.sample;
        // @ts-expect-error a prompt is a text
        await router.run('bfl/flux-2-pro', { prompt: 1 });
        // @ts-expect-error a prompt is required
        await router.run('bfl/flux-2-pro', {});
        // @ts-expect-error a format is one of three
        await router.run('bfl/flux-2-pro', { prompt: 'x', output_format: 'bmp' });
        // @ts-expect-error no model has this id
        await router.run('acme/paint', { anything: 1 });
        await router.run('acme/paint' as string, { anything: 1 });
        interface Input { prompt: string }
        const input: Input = { prompt: 'x' };
        await router.run('acme/paint' as string, input);
        await router.run('bfl/flux-2-pro', input);
        // @ts-expect-error no model has this field
        await router.run('bfl/flux-2-pro', { prompt: 'x', of_tomorrow: 1 });
        await router.run('bfl/flux-2-pro', { prompt: 'x' }, { extra: { of_tomorrow: 1 } });
        const bytes: Uint8Array = new Uint8Array(1);
        await router.upload(bytes);
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
