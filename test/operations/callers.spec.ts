import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { pathOf } from '../documents/checkout-files.js';
import { System } from '../harness/faults.js';
import { failOnLeftovers, temporaryFolder, type TestCaller, transports } from '../harness/index.js';

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

  describe('the package of the TypeScript client, installed into an empty folder', () => {
    let folder: string;

    beforeAll(async () => {
      folder = temporaryFolder('consumer');
      const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
        cwd: pathOf('libs/client'),
      });
      writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
      const install = ['install', '--silent', '--offline', '--no-audit', '--no-fund', `./${stdout.trim()}`];
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
