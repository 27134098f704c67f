import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathOf } from '../../documents/checkout-files.js';
import { System } from '../../harness/faults.js';
import {
  failOnLeftovers,
  temporaryFolder,
  type TestCaller,
  transports,
  waitFor,
} from '../../harness/index.js';
import { Installed } from '../clients/installed.js';
import { greeting, Vendors, written } from './vendors.js';

/** In the network of an agent, the router is here. */
const port = 8080;
const at = (base: string) => `http://127.0.0.1:${port}${base}`;

let system: System;
let vendors: Vendors;
let caller: TestCaller;
let programs: Installed;
let bridge: Server;
let socket: string;

beforeAll(async () => {
  const [transport = 'postgres'] = transports();
  vendors = await Vendors.start();
  programs = Installed.programs(
    '@anthropic-ai/claude-code@2.1.197',
    '@openai/codex@0.171.0',
    '@google/gemini-cli@0.61.0',
    'opencode-ai@1.18.33',
  );
  system = await System.start({
    transport,
    issuedKeys: true,
    env: {
      PROVIDER_ANTHROPIC_BASE_URL: `${vendors.url}/anthropic`,
      PROVIDER_OPENAI_BASE_URL: `${vendors.url}/openai`,
      PROVIDER_GOOGLE_BASE_URL: `${vendors.url}/google`,
    },
  });
  // A new workspace with five dollars.
  caller = await system.caller({ balanceMicros: 5_000_000, inflightLimit: 20 });
  socket = path.join(temporaryFolder('bridge'), 'router');
  const { hostname, port: gatewayPort } = new URL(system.gateways[0]?.url ?? '');
  bridge = createServer((inside) => {
    const outside = connect(Number(gatewayPort), hostname);
    inside.pipe(outside).pipe(inside);
    for (const each of [inside, outside]) each.on('error', () => {});
  }).listen(socket);
});
afterAll(async () => {
  bridge.close();
  await system.stop();
  await vendors.stop();
  programs.remove();
});

interface Agent {
  /** The arguments of a run with this prompt, without a person, that may write files. */
  args: (prompt: string, model?: string) => string[];
  program: string;
  env: () => Record<string, string>;
  files?: () => Record<string, string>;
  /** The current models of its vendor. */
  models: readonly string[];
}

const opencodeFiles = () => ({
  'opencode.json': JSON.stringify({
    provider: {
      anthropic: { options: { baseURL: at('/anthropic/v1'), apiKey: caller.key } },
      openai: { options: { baseURL: at('/openai/v1'), apiKey: caller.key } },
      google: { options: { baseURL: at('/gemini/v1beta'), apiKey: caller.key } },
    },
  }),
});

const opencode = (vendor: string, models: readonly string[]): Agent => ({
  program: 'opencode',
  args: (prompt, model = models[0]) => ['run', '--model', `${vendor}/${model}`, prompt],
  env: () => ({}),
  files: opencodeFiles,
  models,
});

const agents: Readonly<Record<string, Agent>> = {
  'Claude Code': {
    program: 'claude',
    args: (prompt, model) => ['-p', prompt, '--allowedTools', 'Write', ...(model ? ['--model', model] : [])],
    env: () => ({ ANTHROPIC_BASE_URL: at('/anthropic'), ANTHROPIC_API_KEY: caller.key }),
    models: [
      'opus',
      'sonnet',
      'haiku',
      'claude-opus-5',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-fable-5-2',
    ],
  },
  Codex: {
    program: 'codex',
    args: (prompt, model) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      ...(model ? ['--model', model] : []),
      prompt,
    ],
    env: () => ({ ROUTER_KEY: caller.key }),
    files: () => ({
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        'model_provider = "router"',
        '[model_providers.router]',
        'name = "router"',
        `base_url = "${at('/openai/v1')}"`,
        'env_key = "ROUTER_KEY"',
        'wire_api = "responses"',
        '',
      ].join('\n'),
    }),
    models: ['gpt-5.5', 'gpt-5.6-sol', 'gpt-5.6-luna', 'gpt-6-sol', 'gpt-6-luna', 'gpt-6-astra'],
  },
  'Gemini CLI': {
    program: 'gemini',
    args: (prompt, model) => ['--skip-trust', '-y', '-p', prompt, ...(model ? ['-m', model] : [])],
    env: () => ({ GOOGLE_GEMINI_BASE_URL: at('/gemini'), GEMINI_API_KEY: caller.key }),
    files: () => ({ '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' }),
    models: ['gemini-2.5-pro', 'gemini-3.1-pro-preview', 'gemini-3.5-flash', 'gemini-3.8-flash'],
  },
  'opencode with Anthropic': opencode('anthropic', ['claude-opus-5', 'claude-haiku-4-5']),
  'opencode with OpenAI': opencode('openai', ['gpt-5.5', 'gpt-6-luna']),
  'opencode with Google': opencode('google', ['gemini-3.8-flash', 'gemini-2.5-flash']),
};

/** A program in a folder and a network of its own. */
class Running {
  said = '';
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(agent: Agent, prompt: string, model: string | undefined, folder: string) {
    for (const [file, text] of Object.entries(agent.files?.() ?? {})) {
      const place = path.join(folder, file);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
    const inside = [pathOf('test/operations/agents/only-router.py'), socket, String(port)];
    const program = path.join(programs.folder, 'node_modules', '.bin', agent.program);
    this.child = spawn(
      'unshare',
      [
        '--net',
        '--map-root-user',
        '--kill-child',
        'python3',
        ...inside,
        program,
        ...agent.args(prompt, model),
      ],
      {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder, ...agent.env() },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    );
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (bytes: Buffer) => (this.said += bytes.toString()));
    this.exited = new Promise((resolve) => this.child.once('close', resolve));
  }

  /** Its words, once it has ended. */
  async ended(): Promise<string> {
    const timer = setTimeout(() => this.interrupt('SIGKILL'), 120_000);
    await this.exited;
    clearTimeout(timer);
    return this.said;
  }

  interrupt(signal: NodeJS.Signals): void {
    if (this.child.pid !== undefined) process.kill(-this.child.pid, signal);
  }
}

const run = (agent: Agent, prompt: string, model?: string, folder = temporaryFolder('agent')) =>
  new Running(agent, prompt, model, folder);

describe.each(Object.entries(agents))('%s', (_name, agent) => {
  it('says hello with its default model and with every current one', async () => {
    for (const model of [undefined, ...agent.models])
      expect([model, await run(agent, 'Say hello.', model).ended()]).toEqual([
        model,
        expect.stringContaining(greeting),
      ]);
    expect(vendors.refused).toEqual([]);
  });

  it('calls its tool and writes a file', async () => {
    const folder = temporaryFolder('agent');
    const file = path.join(folder, 'note.txt');
    const said = await run(agent, `Write the file ${file}`, undefined, folder).ended();
    expect([said, existsSync(file) && readFileSync(file, 'utf8')]).toEqual([said, `${written}\n`]);
  });

  it('sends a long context', async () => {
    const words = 'The bridge is old. '.repeat(6000);
    expect(await run(agent, `${words} Say hello.`).ended()).toContain(greeting);
  });

  it('shows the vendor’s words if its context is too long', async () => {
    const said = await run(agent, 'Far too long').ended();
    expect(said).toMatch(/too long|context window|maximum number of tokens/i);
  });

  it('stops the vendor when it is interrupted', async () => {
    const [left, stalled] = [vendors.left, vendors.stalled];
    const running = run(agent, 'Never end');
    await waitFor(async () => Promise.resolve(vendors.stalled > stalled), {
      withinMs: 60_000,
      what: 'the call',
    });
    // A run continues if its caller leaves before the first event, which is on its way now.
    await pause(5_000);
    running.interrupt('SIGINT');
    await waitFor(async () => Promise.resolve(vendors.left > left), {
      withinMs: 30_000,
      what: 'the vendor to be left',
    });
    await running.ended();
    await system.ended(caller);
  });
});

it('costs what the vendors’ prices say, and little of it is held', async () => {
  const [sums] = await system.sql<{ runs: string; billed: string }>(
    `SELECT count(*) AS runs, sum(billed_micros) AS billed FROM run WHERE workspace_id = $1 AND outcome = 'succeeded'`,
    [caller.workspaceId],
  );
  expect(Number(sums?.runs)).toBeGreaterThan(40);
  expect(Number(sums?.billed)).toBeLessThan(5_000_000);
});

failOnLeftovers();
