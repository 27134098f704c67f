import { expect, it } from '@jest/globals';
import { unreachable } from '#observability';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { least } from '../harness/faults.js';
import { failOnLeftovers } from '../harness/index.js';

const nowhere = {
  DATABASE_URL: 'postgres://router:secret@127.0.0.1:1/router',
  REDIS_URL: 'redis://:secret@127.0.0.1:2',
  S3_BUCKET: 'assets',
  S3_ENDPOINT: 'http://127.0.0.1:3',
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'secret',
  SIGNING_SECRET: 'x'.repeat(32),
  JWT_SECRET: 'x'.repeat(32),
  PORT: '0',
  INTERNAL_PORT: '0',
};

it('a server that accepts connections and stays silent is named within 5 s', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const urls = { DATABASE_URL: `postgres://${at}`, REDIS_URL: `redis://${at}`, S3_ENDPOINT: `http://${at}` };
  const lines = Object.keys(urls).map(
    (setting) => `${setting}: nothing answers at ${at} (no answer in 3 s).`,
  );
  const tookMs = await least(5_000, async () => {
    const startedMs = performance.now();
    expect(await unreachable(urls)).toEqual(lines);
    return performance.now() - startedMs;
  });
  expect(tookMs).toBeLessThan(5_000);
  silent.close();
});

it.each(['gateway', 'worker'])('a %s immediately names every server that it cannot reach', async (app) => {
  const main = path.resolve(`dist/apps/${app}/src/main.js`);
  const child = spawn(process.execPath, [main], { env: nowhere, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(1);
  for (const line of [
    'DATABASE_URL: nothing answers at 127.0.0.1:1 (ECONNREFUSED).',
    'REDIS_URL: nothing answers at 127.0.0.1:2 (ECONNREFUSED).',
    'S3_ENDPOINT: nothing answers at 127.0.0.1:3 (ECONNREFUSED).',
    'The database cannot be reached',
  ])
    expect(said).toContain(line);
  expect(said).not.toContain('secret');
});

failOnLeftovers();
