import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { NodeMirrorRepository, NodeRepository } from '#persistence';
import { mirrorNodes } from '../../apps/admin/src/registry/mirror-nodes.js';
import { SourcePages } from '../../apps/admin/src/registry/source-pages.js';
import { runAdmin } from '../admin/run-admin.js';
import { content, failOnLeftovers, json, reset, ScriptedServer } from '../harness/index.js';
import { type GivenNode, putGiven, registryForFile } from './registry-side.js';

const source = registryForFile();
const copy = registryForFile();
let dataSource: DataSource;
let copyData: DataSource;
let between: ScriptedServer;
/** The status with which a request is rejected, by the number of requests so far; undefined lets it pass. */
let refusal: (count: number) => number | undefined;

const adminEnv = () => ({ DATABASE_URL: copy().databaseUrl });

/** The source as seen over the network: records the requests, and fails on demand. */
beforeAll(async () => {
  ({ dataSource } = source());
  copyData = copy().dataSource;
  between = await ScriptedServer.start(async (...call) => {
    const [{ url }] = call;
    const refused = url.pathname === '/nodes' ? refusal(between.calls.length) : 404;
    if (refused !== undefined) return json({}, refused)(...call);
    const page = source().reader.read(url.searchParams.toString());
    const reply = page.then((body) => content('application/json', body)).catch(() => reset);
    return (await reply)(...call);
  });
});
afterAll(() => between.stop());

async function mirror({ full } = { full: false }) {
  between.calls.length = 0;
  return mirrorNodes(
    {
      url: between.url,
      pages: new SourcePages(between.url, 1_000_000, async () => {}),
      nodes: new NodeRepository(copyData),
      mirrors: new NodeMirrorRepository(copyData),
      progress: () => {},
    },
    { full },
  );
}

async function expectSamePages(): Promise<void> {
  for (const query of [
    'limit=100',
    'limit=30&sort=downloads;desc&sort=name',
    'limit=50&sort=updated_at',
    'limit=100&include_banned=false&supported_os=POSIX%20::%20Linux&sort=rating;desc',
  ]) {
    const first = await source().reader.list(`latest=true&${query}`);
    expect(first.total).toBeGreaterThan(0);
    for (let page = 1; page <= first.totalPages; page += 1) {
      const asking = `latest=true&${query}&page=${page}`;
      expect(await copy().reader.list(asking)).toEqual(await source().reader.list(asking));
    }
  }
}

const node = (index: number): GivenNode => ({
  id: `node-${index}`,
  name: `Node ${index % 17}`,
  created_at: new Date(Date.UTC(2024, 0, 1 + (index % 90))).toISOString(),
  downloads: index % 13,
  rating: index % 5,
  status: index % 20 === 0 ? 'NodeStatusBanned' : 'NodeStatusActive',
  supported_os: index % 3 === 0 ? ['POSIX'] : ['MacOS'],
  ...(index % 4 !== 0 && { author: `author ${index % 7}`, tags_admin: ['x'] }),
  publisher: {
    id: `publisher-${index % 11}`,
    name: 'A publisher',
    status: index % 11 === 3 ? 'PublisherStatusBanned' : 'PublisherStatusActive',
    members: [{ id: 'm', role: 'owner', user: { id: 'u', name: 'A User', email: 'user@example.org' } }],
  },
  versions: [1, 2].map((number) => ({
    version: `${number}.0`,
    createdAt: new Date(Date.UTC(2024, 3, number + (index % 40))).toISOString(),
  })),
});

it('produces the same pages, and then reads only changes', async () => {
  refusal = () => undefined;
  await putGiven(
    dataSource,
    Array.from({ length: 250 }, (_, index) => node(index)),
  );
  expect(await mirror()).toMatchObject({ pages: 3, read: 250, created: 250 });
  await expectSamePages();

  // Nothing has changed: nodes within the overlap are read again, but not written.
  expect(await mirror()).toMatchObject({ created: 0, changed: 0 });
  expect(
    between.calls.every(
      ({ url }) => url.searchParams.get('limit') === '1' || url.searchParams.has('timestamp'),
    ),
  ).toBe(true);

  await putGiven(dataSource, [
    { ...node(1), name: 'Renamed', author: null, versions: [{ version: '3.0', createdAt: '2026-01-01' }] },
    { id: 'newcomer', supported_os: ['POSIX'] },
  ]);
  expect(await mirror()).toMatchObject({ created: 1, changed: 1 });
  expect(await copy().reader.walk('latest=true&limit=100')).toEqual(
    await source().reader.walk('latest=true&limit=100'),
  );

  // The latest version is withdrawn and a node appears with old dates. The changes do not include it, but the
  // total does.
  await putGiven(dataSource, [
    { id: 'node-1', versions: [{ version: '3.0', status: 'NodeVersionStatusDeleted' }] },
    { id: 'of-old', created_at: '2019-01-01' },
  ]);
  expect(await mirror()).toMatchObject({ created: 1, changed: 1 });
  expect(await copy().reader.walk('latest=true&limit=100')).toEqual(
    await source().reader.walk('latest=true&limit=100'),
  );
});

it('retries, and continues where it was interrupted', async () => {
  // The third request and its retries fail, the last one for good: only the first page is imported.
  refusal = (count) => (count > 2 ? (count > 5 ? 404 : 503) : undefined);
  await expect(mirror({ full: true })).rejects.toThrow('answered 404');
  expect(between.calls).toHaveLength(6);

  refusal = (count) => (count === 2 ? 503 : undefined);
  expect(await mirror()).toMatchObject({ created: 0, changed: 0 });
  const pages = between.calls
    .map(({ url }) => url.searchParams)
    .filter((query) => query.get('limit') === '100');
  expect(pages.map((query) => query.get('page'))).toEqual(['2', '3', '3']);
  expect(pages.some((query) => query.has('timestamp'))).toBe(false);
});

it('is a command that exits with 0, and gives up on a server that is not a registry', async () => {
  refusal = () => undefined;
  const found = await runAdmin(
    adminEnv(),
    'registry',
    'mirror',
    between.url,
    '--full',
    '--per-second',
    '100',
    '--json',
  );
  expect(found).toMatchObject({ code: 0, error: '' });
  expect(JSON.parse(found.out)).toMatchObject({ read: 252, created: 0, changed: 0, rejected: [] });
  const { code, error } = await runAdmin(adminEnv(), 'registry', 'mirror', `${between.url}/elsewhere`);
  expect([code, error]).toEqual([1, expect.stringContaining('answered 404')]);
  expect((await runAdmin(adminEnv(), 'registry', 'mirror', 'file:///etc/passwd')).code).toBe(2);
});

failOnLeftovers();
