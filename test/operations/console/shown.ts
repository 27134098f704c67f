import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { appMain } from '../../../apps/local/src/checkout.js';
import { Receiver } from '../../harness/receiver.js';
import { startBrowser } from '../../harness/faults.js';
import {
  installationFolder,
  launch,
  type Launched,
  type Ready,
  removeInstallation,
} from '../local/launched.js';

const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
type Size = keyof typeof sizes;

interface View {
  size?: Size;
  theme?: 'light' | 'dark';
  /** The key to start with; null to start signed out. */
  key?: string | null;
}

/** The console of a separate local installation, in a real browser. */
export class ShownConsole {
  /** Script errors, policy violations, and requests to other servers. */
  readonly troubles: string[] = [];

  private constructor(
    private readonly folder: string,
    private readonly launched: Launched,
    readonly ready: Ready,
    readonly receiver: Receiver,
    private readonly browser: Browser,
  ) {}

  static async start(chromium: string, env: Record<string, string> = {}): Promise<ShownConsole> {
    const folder = installationFolder();
    const receiver = await Receiver.start(({ path }, response) =>
      path === '/delivered'
        ? response.writeHead(204).end()
        : response.writeHead(503).end('<img src=x onerror="hit = 1">'),
    );
    const launched = await launch({ folder, env: { WEBHOOK_ALLOWED_ORIGINS: receiver.url, ...env } });
    return new ShownConsole(folder, launched, await launched.ready(), receiver, await startBrowser(chromium));
  }

  async open(
    path: string,
    { size = 'desktop', theme = 'light', key = this.ready.api_key }: View = {},
  ): Promise<Page> {
    const context = await this.browser.newContext({
      viewport: sizes[size],
      colorScheme: theme,
      reducedMotion: 'reduce',
      timezoneId: 'UTC',
      locale: 'en-GB',
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: this.ready.base_url });
    const page = await context.newPage();
    page.setDefaultTimeout(50_000);
    this.watch(page);
    if (key !== null) {
      await page.addInitScript(`sessionStorage.setItem('model-router-credential', ${JSON.stringify(key)})`);
    }
    await page.goto(`${this.ready.base_url}/console${path}`);
    return page;
  }

  /** Creates a workspace and returns a key with all scopes. */
  async keyOfNewWorkspace(name: string): Promise<string> {
    await this.admin('workspace', 'create', name, '--credits-cents', '1000');
    const scopes = 'catalog,run,requests,usage,workspace,manage';
    const made = await this.admin(
      'key',
      'create',
      '--workspace',
      name,
      '--name',
      'first',
      '--scopes',
      scopes,
    );
    return (made as { key: string }).key;
  }

  private async admin(...words: string[]): Promise<unknown> {
    const { stdout } = await promisify(execFile)(process.execPath, [appMain('admin'), ...words, '--json'], {
      env: { ...process.env, DATABASE_URL: this.ready.database_url },
      timeout: 60_000,
    });
    return JSON.parse(stdout);
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.launched.kill('SIGTERM');
    await this.launched.ended;
    await this.receiver.stop();
    removeInstallation(this.folder);
  }

  private watch(page: Page): void {
    page.on('pageerror', (error) => this.troubles.push(`${page.url()}: ${error.message}`));
    page.on('console', (line) => {
      if (/Content Security Policy|violates the following/.test(line.text())) {
        this.troubles.push(`${page.url()}: ${line.text()}`);
      }
    });
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== this.ready.base_url) this.troubles.push(request.url());
    });
  }
}
