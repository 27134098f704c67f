import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Database, databaseSettings, Workspaces } from '#persistence';
import { readSettings } from '#schemas';
import { Client } from 'pg';
import {
  type App,
  Caller,
  createDatabase,
  failOnLeftovers,
  least,
  patience,
  sha256,
  spawnApp,
  temporaryFolder,
  type TestDatabase,
} from '../harness/index.js';

const assets = temporaryFolder('assets');
// Large bodies are checked in a thread, which only the built program has.
let database: TestDatabase;
let gateway: App;
let caller: Caller;

beforeAll(async () => {
  database = await createDatabase();
  const store = new Database(readSettings(databaseSettings, { DATABASE_URL: database.url, ...patience }));
  const dataSource = await store.openDataSource();
  const workspaces = new Workspaces(dataSource);
  await workspaces.create('large', {});
  const { key } = await workspaces.createKey('large', {
    name: 'large',
    scopes: ['catalog', 'run'],
    expiresAt: null,
  });
  await dataSource.destroy();
  await store.close();
  gateway = await spawnApp('gateway', {
    DATABASE_URL: database.url,
    JWT_SECRET: 'a-secret-of-tests-for-access-tokens-00',
    SIGNING_SECRET: 'a-secret-of-tests-for-cursors-00000000',
    ASSET_DIR: assets,
    ...patience,
    BODY_CHECK_TIMEOUT_MS: '60000',
    STORE_PAYLOAD_MS: '60000',
  });
  await gateway.ready;
  caller = new Caller(() => [gateway.url], key);
});
afterAll(async () => {
  const code = await gateway.stop();
  if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  await database.drop();
});
failOnLeftovers();

const submission = '/v2/models/bfl/flux-2-pro/requests';
const filler = 'x'.repeat(2 * 1024 * 1024);

it('admits a large body byte for byte, as often as asked, and answers others meanwhile', async () => {
  const body = `{ "prompt":"é", "seed": 1,\n"input_image":"${filler}" }`;
  const [runs, small] = await Promise.all([
    Promise.all([1, 2, 3].map(() => caller.submit('bfl/flux-2-pro', body))),
    caller.submit('bfl/flux-2-pro', '{"prompt":"x"}'),
  ]);
  expect(small.requestId).toMatch(/^[0-9a-f-]{36}$/);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ key: string }>(
    `SELECT stored_as AS key FROM payload JOIN stored_object ON key = stored_as AND delete_at = 'infinity'
     WHERE payload.run_id = ANY($1)`,
    [runs.map(({ requestId }) => requestId)],
  );
  await client.end();
  expect(rows.map(({ key }) => sha256(readFileSync(path.join(assets, key))))).toEqual(
    runs.map(() => sha256(Buffer.from(body))),
  );
});

it('refuses large bodies for the same reasons as small ones', async () => {
  const rejected = await caller.call('POST', submission, { body: `{"input_image":"${filler}"}` });
  expect([rejected.status, rejected.bucket]).toEqual([422, 'invalid_input']);
  expect(rejected.json()).toMatchObject({ detail: [{ loc: ['body', 'prompt'], type: 'missing' }] });
  for (const body of [`{"prompt":"${filler}`, `["${filler}"]`, `{"a":${'['.repeat(64)}"${filler}"`]) {
    const malformed = await caller.call('POST', submission, { body });
    expect([malformed.status, malformed.bucket]).toEqual([400, 'invalid_input']);
  }
});

/** The longest pause of the gateway's event loop since this was last asked, in milliseconds. */
async function longestPauseMs(): Promise<number> {
  const text = await (await fetch(`${gateway.internalUrl}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000;
}

const mebibyte = 1024 * 1024;
const fill = (size: number, piece: string) => piece.repeat(size / piece.length - 50);

it.each([
  ['10,000 nested arrays', 400, `{"prompt":"x","a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ['as many empty objects as are checked at once', 422, `{"prompt":"x","a":[${fill(64 * 1024, '{},')}{}]}`],
  ['a string of 32 MiB', 201, `{"prompt":"x","input_image":"${fill(32 * mebibyte, 'x')}"}`],
  ['32 MiB of numbers', 422, `{"prompt":"x","a":[${fill(32 * mebibyte, '0,')}0]}`],
  ['32 MiB of empty objects', 400, `{"prompt":"x","a":[${fill(32 * mebibyte, '{},')}{}]}`],
])('does not hold up other calls for 50 ms over %s', async (_what, status, body) => {
  // A busy machine makes pauses of its own: what the gateway makes itself is there each time.
  const ofOneCall = async () => {
    await longestPauseMs();
    expect((await caller.call('POST', submission, { body, withinMs: 90_000 })).status).toBe(status);
    return longestPauseMs();
  };
  const shortest = await least(50, ofOneCall, 24);
  expect(shortest).toBeLessThan(50);
});
