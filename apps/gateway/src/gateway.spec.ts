import { beforeAll, expect, it } from '@jest/globals';
import { loadCatalog } from '#catalog';
import { createLog, Metrics, noTracing } from '#observability';
import { Database } from '#persistence';
import { createTransport } from '#queue';
import { routes } from '#schemas';
import { createStore } from '#storage';
import type { FastifyInstance } from 'fastify';
import os from 'node:os';
import { createGateway } from './gateway.js';
import { readGatewaySettings } from './settings.js';

const settings = readGatewaySettings({
  // Nothing listens there: what a gateway routes is settled before its first call.
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  QUEUE_COMMAND_TIMEOUT_MS: '1',
  JWT_SECRET: 'x'.repeat(32),
  SIGNING_SECRET: 'y'.repeat(32),
  ASSET_DIR: os.tmpdir(),
  ASSET_BASE_URL: 'http://assets.example.com',
});
const log = createLog('gateway', 'fatal');

let printed: string;
beforeAll(async () => {
  const catalog = { current: await loadCatalog({ directories: [] }) };
  const storage = await createStore(settings);
  const database = Database.create(settings);
  const transport = await createTransport(settings, log);
  try {
    const metrics = new Metrics();
    const resources = { settings, log, metrics, tracing: noTracing, catalog, database, transport, storage };
    const app = await createGateway(resources);
    const server: FastifyInstance = app.getHttpAdapter().getInstance();
    printed = server.printRoutes();
    await app.close();
  } finally {
    await Promise.all([transport.close(), database.close(), storage.store.close()]);
  }
});

/** Method and path of every route that the server has, in the words of OpenAPI. */
function served(): string[] {
  const found: string[] = [];
  const above: string[] = [];
  for (const line of printed.split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+)(?: \((.+)\))?$/.exec(line) ?? [];
    if (part === '') continue;
    const depth = indent.length / 4;
    above.splice(depth, Infinity, part);
    const path = above
      .join('')
      .replaceAll(/:requestId\b/g, ':request_id')
      .replaceAll(/:(\w+)/g, '{$1}')
      .replace('*', '{key}');
    // A part without methods is what several routes begin with.
    for (const method of methods.split(', ').filter((each) => each !== '')) found.push(`${method} ${path}`);
  }
  return found;
}

it('serves every route of the reference, and no other', () => {
  // A GET route answers HEAD too. Ids of three segments name no model: those routes only say so.
  const expected = served().filter((route) => !route.startsWith('HEAD ') && !route.includes('{variant}'));
  expect(expected.length).toBeGreaterThan(12);
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(expected.sort());
});
