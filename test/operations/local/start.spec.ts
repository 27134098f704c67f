import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { least } from '../../harness/faults.js';
import { failOnLeftovers, transports } from '../../harness/index.js';
import {
  installationFolder,
  launch,
  nothingLeft,
  removeInstallation,
  type Launched,
  type Ready,
} from './launched.js';

/** A PATH without Redis; the launcher calls everything it needs by its full path. */
const withoutRedis = { PATH: '/nowhere' };

const pasted = async (text = '') => promisify(execFile)('sh', ['-c', text], { timeout: 120_000 });

describe.each(transports())('npm start with %s as transport', (transport) => {
  const folder = installationFolder();
  const env = transport === 'redis' ? {} : withoutRedis;
  const redisUrl = transport === 'redis' ? expect.stringMatching(/^redis:\/\/.*@127\.0\.0\.1:\d+$/) : null;
  let launched: Launched;
  let ready: Ready;
  let requestUrl: string;

  beforeAll(async () => {
    launched = await launch({ folder, env });
    ready = await launched.ready();
  });
  afterAll(() => removeInstallation(folder));

  it('writes its addresses to ready.json, readable only by its owner', () => {
    expect(ready).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api_key: expect.stringMatching(/^rk_/),
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      database_url: expect.stringMatching(/^postgres:\/\/.*@127\.0\.0\.1:\d+\//),
      redis_url: redisUrl,
      transport,
      s3_endpoint: null,
    });
    for (const file of ['ready.json', 'secrets.json', 'demo.json']) {
      expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    }
  });

  it('prints a line for each step, one of which names the transport', () => {
    const lines = launched.out().split('\n');
    for (const step of ['postgres', 'transport', 'files', 'migrate', 'workspace', 'simulator', 'apps']) {
      expect(lines.filter((line) => new RegExp(`^${step} +\\d+\\.\\d\\d s  \\S`).test(line))).toHaveLength(1);
    }
    expect(lines.find((line) => line.startsWith('transport'))).toMatch(
      transport === 'redis' ? /s {2}Redis/ : /s {2}Postgres/,
    );
  });

  it('prints commands that submit, follow and collect a run when pasted in order, and one that is refused', async () => {
    const lines = launched
      .out()
      .split('\n')
      .filter((line) => line.includes('curl '));
    expect(lines).toHaveLength(4);
    const script = [...lines.slice(0, 3), `echo "\n$REQUEST_ID"`].join('\n');
    expect(JSON.parse((await pasted(lines[3])).stdout)).toMatchObject({
      detail: [{ loc: ['body', 'width'] }],
    });
    const { stdout } = await pasted(script);
    const [result, requestId] = stdout.split(/\n(?=[^\n]*\n?$)/);
    expect(JSON.parse(result ?? '')).toMatchObject({ status: 'Ready' });
    requestUrl = `${ready.base_url}/v2/models/bfl/flux-2-pro/requests/${requestId?.trim()}`;
  });

  it('lets pages of this machine call it from a browser, on any port, and no others', async () => {
    const [local, numeric] = ['http://localhost:5173', 'http://127.0.0.1:3000'];
    const allowed: (string | null)[] = [];
    for (const origin of [local, numeric, 'https://app.example.com']) {
      const headers = { origin, 'access-control-request-method': 'POST' };
      const answer = await fetch(`${ready.base_url}/v2/models/bfl/flux-2-pro`, {
        method: 'OPTIONS',
        headers,
      });
      allowed.push(answer.headers.get('access-control-allow-origin'));
    }
    expect(allowed).toEqual([local, numeric, null]);
  });

  it('prints an admin command that works', async () => {
    const line = launched
      .out()
      .split('\n')
      .find((each) => each.includes('npm run'));
    // Skips the build, which would overwrite files that other tests are starting programs from.
    const env = { ...process.env, npm_config_ignore_scripts: 'true' };
    const printed = async (command = 'false') =>
      (await promisify(execFile)('sh', ['-c', command], { env, timeout: 120_000 })).stdout;
    expect(await printed(line)).toContain('demo');
    // It knows the address of this start.
    const link = line?.replace('workspace list', 'link demo');
    expect(await printed(link)).toContain(ready.base_url);
  });

  const stop = async (attempt: number) => {
    if (attempt > 1) {
      launched = await launch({ folder, env });
      await launched.ready();
    }
    const startedMs = performance.now();
    launched.kill('SIGTERM');
    expect(await launched.ended).toBe(0);
    const tookMs = performance.now() - startedMs;
    await nothingLeft(folder, 500);
    expect(existsSync(path.join(folder, 'ready.json'))).toBe(false);
    expect(launched.error()).toBe('');
    return tookMs;
  };

  it('stops at once on SIGTERM, and leaves nothing running', async () => {
    expect(await least(5_000, stop)).toBeLessThan(5_000);
  });

  it('keeps data, credentials and results across restarts', async () => {
    const again = await launch({ folder, env, port: Number(new URL(ready.base_url).port) });
    expect(await again.ready()).toEqual(ready);
    const reply = await fetch(requestUrl, { headers: { 'X-API-Key': ready.api_key } });
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({ status: 'Ready' });
    for (const line of ['the schema was up to date', 'its key and token kept', 'demo nodes kept']) {
      expect(again.out()).toContain(line);
    }
    again.kill('SIGTERM');
    expect(await again.ended).toBe(0);
  });
});

failOnLeftovers();
