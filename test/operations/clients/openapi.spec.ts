import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { System } from '../../harness/faults.js';
import { failOnLeftovers, type TestCaller, transports } from '../../harness/index.js';
import { Installed } from './installed.js';

/** A program typed by the document; each marked line must not compile. */
const program = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const client = createClient<paths>({
  baseUrl: process.argv[2],
  headers: { 'X-API-Key': process.argv[3] },
});
const model = { provider: 'bfl', model: 'flux-2-pro' };
const submitted = await client.POST('/v2/models/{provider}/{model}/requests', {
  params: { path: model },
  body: { prompt: 'a fox' },
});
const requestId: string | undefined = submitted.data?.request_id;
const listed = await client.GET('/v2/requests', { params: { query: { status: 'IN_QUEUE', limit: 5 } } });
const workspace = await client.GET('/v2/workspace');
// @ts-expect-error a state that does not exist
await client.GET('/v2/requests', { params: { query: { status: 'WAITING' } } });
// @ts-expect-error a path that does not exist
await client.GET('/v2/nothing');
const failed = await client.GET('/v2/models/{provider}/{model}', { params: { path: { provider: 'bfl', model: 'none' } } });
console.log(JSON.stringify({
  requestId,
  listed: listed.data?.data.length,
  limit: workspace.data?.limits.inflight.limit,
  failed: failed.error?.error_type,
}));
`;

describe('openapi-typescript 7.13.0 and openapi-fetch 0.17.0', () => {
  let installed: Installed;
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    installed = Installed.packages(
      'openapi-typescript@7.13.0',
      'openapi-fetch@0.17.0',
      'typescript@5.9.3',
      '@types/node@20.19.0',
    );
    system = await System.start({ transport: transports()[0] ?? 'postgres' });
    caller = await system.caller({}, undefined, ['catalog', 'run', 'requests', 'workspace']);
  });
  afterAll(async () => {
    await system.stop();
    installed.remove();
  });

  const run = (command: string, ...options: string[]) =>
    execFileSync(path.join(installed.folder, 'node_modules/.bin', command), options, {
      cwd: installed.folder,
      encoding: 'utf8',
      timeout: 120_000,
    });

  it('type a client and call with it', () => {
    const base = system.gateways[0]?.url ?? '';
    run('openapi-typescript', `${base}/openapi.json`, '--output', 'schema.ts');
    writeFileSync(path.join(installed.folder, 'program.mts'), program);
    const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck'];
    run('tsc', ...strict, '--types', 'node', 'program.mts');
    const out = execFileSync(process.execPath, ['program.mjs', base, caller.key], {
      cwd: installed.folder,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(JSON.parse(out)).toEqual({
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      listed: expect.any(Number),
      limit: 5,
      failed: 'model_not_found',
    });
  });
});

failOnLeftovers();
