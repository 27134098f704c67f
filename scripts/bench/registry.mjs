import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { appMain } from '../../dist/apps/local/src/checkout.js';
import { NodeReader, nodeSortColumns } from '../../dist/libs/persistence/src/index.js';
import { harnessDatabase } from '../../dist/test/harness/long-timeouts.js';
import { temporaryFolder } from '../../dist/test/harness/running.js';
import { against, atMost, perSecond, share } from './load.mjs';
import { startScript, startService } from './service.mjs';
import { sizeOf } from './size.mjs';

const nodes = sizeOf('NODES');
const versionsEach = 10;

/** Imports 100,000 nodes, adds versions up to a million, and requests pages. */
export async function* run() {
  // A production server would have this much memory; the default does not hold the indexes.
  const service = await startService({ transport: 'postgres', settings: { shared_buffers: '1GB' } });
  try {
    const { client, env } = service;
    yield await importing(env);
    await client.query(
      `INSERT INTO node_version (node_id, version, changelog, created_at, status)
        SELECT node.id, '2.' || n, 'Small repairs.', node.created_at + n * interval '1 day', 'NodeVersionStatusActive'
        FROM node, generate_series(2, $1::integer) AS n`,
      [versionsEach],
    );
    await client.query('VACUUM (ANALYZE)');
    yield* reading(env.DATABASE_URL);

    const gateway = await service.start('gateway', { REGISTRY_READS_PER_MINUTE: '1000000' });
    yield await cachedFirstPage(gateway.url);
    yield* freshPages(gateway.url);
  } finally {
    await service.stop();
  }
}

async function importing(env) {
  const file = path.join(temporaryFolder('nodes'), 'nodes.jsonl');
  const out = createWriteStream(file);
  for (let n = 0; n < nodes; n += 1) out.write(`${JSON.stringify(node(n))}\n`);
  await new Promise((resolve) => out.end(resolve));
  const startedMs = performance.now();
  await promisify(execFile)(process.execPath, [appMain('admin'), 'registry', 'import', file], { env });
  const perSecond = Math.round((nodes * 1000) / (performance.now() - startedMs));
  return {
    what: `import of ${nodes} nodes`,
    measured: `${perSecond} nodes/s`,
    aim: '≥ 5000',
    reached: perSecond >= 5000,
  };
}

const some = (list, n) => list.filter((_, index) => (n >> index) % 2 === 1);

const node = (n) => ({
  id: `node-${(n * 7919) % nodes}`,
  name: `Node ${(n * 31) % 9973}`,
  description: `What number ${n} does, in a sentence or two of the usual length. `.repeat(3),
  author: `author ${n % 4999}`,
  category: n % 3 === 0 ? null : `category ${n % 23}`,
  tags: some(['image', 'video', 'audio', 'text'], n),
  created_at: new Date(Date.UTC(2022, 0, 1) + n * 900_000).toISOString(),
  downloads: (n * n) % 999_983,
  github_stars: n % 10 === 0 ? null : n % 4001,
  rating: (n % 51) / 10,
  search_ranking: n % 997,
  repository: `https://git.example/node-${n}`,
  publisher: {
    id: `publisher-${n % 5000}`,
    name: `Publisher ${n % 5000}`,
    members: [{ id: `member-${n % 5000}`, role: 'owner', user: { id: `user-${n % 5000}`, name: 'A User' } }],
  },
  status: n % 29 === 0 ? 'NodeStatusBanned' : 'NodeStatusActive',
  supported_os: some(['POSIX', 'MacOS', 'Microsoft :: Windows', 'POSIX :: Linux'], n >> 2),
  supported_accelerators: some(['CUDA', 'DirectML', 'ROCm'], n >> 3),
  supported_app_version: n % 4 === 0 ? `>=${n % 7}.0` : null,
  latest_version: { version: '2.1', createdAt: new Date(Date.UTC(2022, 3, 1) + n * 900_000).toISOString() },
});

/** Each column in both directions, and columns with few distinct values before others. */
const orders = [
  ...nodeSortColumns.flatMap((column) => [column, `${column};desc`]),
  'category,downloads;desc',
  'category;desc,name',
  'status,downloads;desc',
  'status;desc,category,rating;desc',
  'rating;desc,downloads;desc',
  'author,updated_at;desc',
  'search_ranking;desc,github_stars;desc,created_at;desc',
].map((terms) => terms.split(','));

/** Reads the columns of all nodes, as a gateway does for the first page and after nodes were written. */
async function* reading(url) {
  const database = harnessDatabase(url);
  const reader = new NodeReader(database);
  const page = { offset: 0, limit: 1, maxAgeMs: 0, includeBanned: true };
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const startedMs = performance.now();
  await reader.page({ ...page, sort: [] });
  const firstMs = performance.now() - startedMs;
  for (const column of nodeSortColumns)
    for (const descending of [false, true]) await reader.page({ ...page, sort: [{ column, descending }] });
  const allMs = performance.now() - startedMs;
  loop.disable();
  await database.close();
  yield atMost('first page after a start', firstMs, 2000, 'ms');
  yield atMost('first pages in every order', allMs, 10_000, 'ms');
  yield atMost('longest turn of the event loop meanwhile', loop.max / 1e6, 50, 'ms');
}

async function cachedFirstPage(url) {
  const bytes = await (await fetch(`${url}/nodes`)).text();
  const bare = await startScript('bare-runs.mjs', { bytes });
  const best = await against(
    () => perSecond(bare.url, { path: '/bytes' }),
    () => perSecond(url, { path: '/nodes' }),
  );
  await bare.stop();
  return share('cached first page against bare Fastify with the same bytes', best, 0.6);
}

async function* freshPages(url) {
  const timed = async (query) => {
    const startedMs = performance.now();
    const answer = await fetch(`${url}/nodes?latest=true&${query}`);
    const { totalPages } = await answer.json();
    if (answer.status !== 200) throw new Error(`${query} answers ${answer.status}`);
    return { ms: performance.now() - startedMs, totalPages };
  };
  const filters = [
    '',
    '&supported_os=MacOS',
    '&supported_accelerator=CUDA',
    '&include_banned=false',
    '&app_version=3.1',
    '&timestamp=2023-06-01',
    '&form_factor=x-linux&include_banned=false',
  ];
  const sorts = orders.map((terms) => terms.map((term) => `sort=${term}`).join('&'));
  // The first page of an order also reads its column, which is measured above.
  for (const sort of sorts) await timed(sort);
  const times = { first: [], middle: [], last: [] };
  let slowest = { ms: 0 };
  for (let round = 0; round < 3; round += 1) {
    for (const filter of filters) {
      const { totalPages } = await timed(`page=1${filter}`);
      const pages = { first: 1, middle: Math.ceil(totalPages / 2), last: totalPages };
      for (const sort of sorts) {
        for (const [place, page] of Object.entries(pages)) {
          const query = `${sort}${filter}&page=${page}`;
          const { ms } = await timed(query);
          times[place].push(ms);
          if (ms > slowest.ms) slowest = { ms, query };
        }
      }
    }
  }
  for (const [place, found] of Object.entries(times)) {
    const p99 = found.toSorted((a, b) => a - b)[Math.floor(found.length * 0.99)];
    const what = `fresh ${place} pages of ${filters.length} filters in ${sorts.length} orders, p99`;
    yield atMost(what, p99, 50, 'ms', 1);
  }
  process.stdout.write(`        slowest: ${slowest.query}: ${slowest.ms.toFixed(1)} ms\n`);

  const median = async (query) => {
    const found = [];
    for (let round = 0; round < 15; round += 1) found.push((await timed(query)).ms);
    return found.sort((a, b) => a - b)[7];
  };
  for (const sort of ['sort=id', 'sort=downloads;desc', 'sort=name', 'sort=category&sort=downloads;desc']) {
    const first = await median(`${sort}&page=1`);
    const last = await median(`${sort}&page=${nodes / 10}`);
    yield atMost(`last page against the first, ${sort}`, last / first, 3, '', 2);
  }
}
