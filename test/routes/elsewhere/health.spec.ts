import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { appMain, checkout } from '../../../apps/local/src/checkout.js';
import { gatewayForFile } from '../gateways.js';

const gateway = gatewayForFile({ LOG_LEVEL: 'info' });
const json = (file: string) =>
  JSON.parse(readFileSync(path.join(checkout, file), 'utf8')) as Record<string, string>;
const { version = '' } = json('package.json');
const { revision = '', builtAt = '' } = json('dist/libs/observability/src/release.json');
const stated = { version, revision, built_at: builtAt };

it('GET /health answers with the release, to callers and on the internal listener', async () => {
  expect(revision).toMatch(/^([0-9a-f]{40}(-dirty)?|unknown)$/);
  for (const url of [gateway().url, gateway().internalUrl]) {
    const answer = await fetch(`${url}/health`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ready', ...stated }]);
  }
});

it('the first line of the log and router_build_info name the same release', async () => {
  const [first = ''] = gateway()
    .logs()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  expect(JSON.parse(first)).toMatchObject({ msg: 'gateway is starting', ...stated });
  const metrics = await (await fetch(`${gateway().internalUrl}/metrics`)).text();
  const labels = `version="${version}",revision="${revision.replace(/^(.{12})[0-9a-f]+/, '$1')}"`;
  expect(metrics).toContain(`router_build_info{${labels},node="${process.versions.node}"} 1`);
});

it.each(['gateway', 'worker', 'admin', 'local', 'simulator'])('%s --version prints it', (app) => {
  const text = execFileSync(process.execPath, [appMain(app), '--version'], { env: {}, encoding: 'utf8' });
  expect(text).toBe(`model-router ${version} (revision ${revision}, built at ${builtAt})\n`);
});
