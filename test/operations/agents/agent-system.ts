import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { pathOf } from '../../documents/checkout-files.js';
import { System } from '../../harness/faults.js';
import { temporaryFolder, type TestCaller, transports } from '../../harness/index.js';
import { Installed } from '../clients/installed.js';
import { Vendors } from './vendors.js';

/** In the network of an agent, the router is here. */
const port = 8080;
export const at = (base: string): string => `http://127.0.0.1:${port}${base}`;

/** A program with its arguments, its environment, and files by their path in its folder. */
interface Command {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  files?: Readonly<Record<string, string>>;
}

/** A router in front of simulated vendors, a caller of it, and programs from npm that reach nothing else. */
export class AgentSystem {
  private constructor(
    readonly vendors: Vendors,
    readonly programs: Installed,
    readonly router: System,
    readonly caller: TestCaller,
    private readonly bridge: Server,
    private readonly socket: string,
  ) {}

  static async start(...names: string[]): Promise<AgentSystem> {
    const [transport = 'postgres'] = transports();
    const vendors = await Vendors.start();
    const programs = Installed.programs(...names);
    const router = await System.start({
      transport,
      issuedKeys: true,
      env: {
        PROVIDER_ANTHROPIC_BASE_URL: `${vendors.url}/anthropic`,
        PROVIDER_OPENAI_BASE_URL: `${vendors.url}/openai`,
        PROVIDER_GOOGLE_BASE_URL: `${vendors.url}/google`,
      },
    });
    // A new workspace with five dollars.
    const caller = await router.caller({ balanceMicros: 5_000_000, inflightLimit: 20 });
    const socket = path.join(temporaryFolder('bridge'), 'router');
    const { hostname, port: gatewayPort } = new URL(router.gateways[0]?.url ?? '');
    const bridge = createServer((inside) => {
      const outside = connect(Number(gatewayPort), hostname);
      inside.pipe(outside).pipe(inside);
      for (const each of [inside, outside]) each.on('error', () => {});
    }).listen(socket);
    return new AgentSystem(vendors, programs, router, caller, bridge, socket);
  }

  async stop(): Promise<void> {
    this.bridge.close();
    await this.router.stop();
    await this.vendors.stop();
    this.programs.remove();
  }

  /** Runs a command in a folder and a network of its own. */
  run(command: Command, folder = temporaryFolder('agent')): Running {
    for (const [file, text] of Object.entries(command.files ?? {})) {
      const place = path.join(folder, file);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
    const inside = [pathOf('test/operations/agents/only-router.py'), this.socket, String(port)];
    const child = spawn(
      'unshare',
      ['--net', '--map-root-user', '--kill-child', 'python3', ...inside, command.program, ...command.args],
      {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder, ...command.env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    );
    return new Running(child);
  }

  /** The path of a program that npm installed. */
  programAt(name: string): string {
    return path.join(this.programs.folder, 'node_modules', '.bin', name);
  }
}

export class Running {
  said = '';
  readonly exited: Promise<number | null>;

  constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => (this.said += bytes.toString()));
    this.exited = new Promise((resolve) => child.once('close', resolve));
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
