import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DataSource } from 'typeorm';
import { RegistryMirrors, RegistryWriting } from '#persistence';
import { mirrorNodes } from '../../apps/admin/src/registry/mirror-nodes.js';
import { SourcePages } from '../../apps/admin/src/registry/source-pages.js';
import { runAdmin } from '../admin/run-admin.js';
import { gatewaysForFile } from '../routes/gateways.js';
import { type GivenNode, putGiven, RegistryReader } from './registry-side.js';

const gateways = gatewaysForFile(2);
const source = () => gateways(0);
const copy = () => gateways(1);
const original = new RegistryReader(() => source().url);
const mirrored = new RegistryReader(() => copy().url);
let dataSource: DataSource;
let copyData: DataSource;
let between: Server;
let asked: URL[] = [];
/** The status with which a request is refused, by how many there were; undefined: it is passed on. */
let refusal: (count: number) => number | undefined;

async function pass(address: URL, response: ServerResponse): Promise<void> {
  const answer = await fetch(address);
  response.setHeader('date', answer.headers.get('date') ?? '');
  response.end(await answer.text());
}

const adminEnv = () => ({ DATABASE_URL: copy().databaseUrl });

/** What lies between the registries: it notes what is asked, and fails when it is told to. */
beforeAll(async () => {
  dataSource = await source().database.openDataSource();
  copyData = await copy().database.openDataSource();
  between = createServer((request, response) => {
    const address = new URL(request.url ?? '', source().url);
    asked.push(address);
    const refused = refusal(asked.length);
    if (refused !== undefined) {
      response.statusCode = refused;
      return void response.end('{}');
    }
    pass(address, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => void between.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await Promise.all([dataSource.destroy(), copyData.destroy()]);
  await new Promise((resolve) => between.close(resolve));
});

const url = () => `http://127.0.0.1:${(between.address() as AddressInfo).port}`;

async function mirror() {
  asked = [];
  return mirrorNodes(
    {
      url: url(),
      pages: new SourcePages(url(), 100),
      writing: new RegistryWriting(copyData),
      mirrors: new RegistryMirrors(copyData),
      progress: () => {},
    },
    { full: false },
  );
}

async function expectSamePages(): Promise<void> {
  for (const query of [
    'limit=100',
    'limit=30&sort=downloads;desc&sort=name',
    'limit=50&sort=updated_at',
    'limit=100&include_banned=false&supported_os=POSIX%20::%20Linux&sort=rating;desc',
  ]) {
    const first = await original.list(`latest=true&${query}`);
    expect(first.total).toBeGreaterThan(0);
    for (let page = 1; page <= first.totalPages; page += 1) {
      const asking = `latest=true&${query}&page=${page}`;
      expect(await mirrored.list(asking)).toEqual(await original.list(asking));
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

it('brings a registry to the same pages, then reads changes only', async () => {
  refusal = () => undefined;
  await putGiven(
    dataSource,
    Array.from({ length: 250 }, (_, index) => node(index)),
  );
  expect(await mirror()).toMatchObject({ pages: 3, read: 250, created: 250 });
  await expectSamePages();

  // Nothing has changed; what lies within the overlap is read again, and nothing of it is written.
  expect(await mirror()).toMatchObject({ created: 0, changed: 0 });
  expect(
    asked.every(({ searchParams }) => searchParams.get('limit') === '1' || searchParams.has('timestamp')),
  ).toBe(true);

  await putGiven(dataSource, [
    { ...node(1), name: 'Renamed', author: null, versions: [{ version: '3.0', createdAt: '2026-01-01' }] },
    { id: 'newcomer', supported_os: ['POSIX'] },
  ]);
  expect(await mirror()).toMatchObject({ created: 1, changed: 1 });
  expect(await mirrored.walk('latest=true&limit=100')).toEqual(await original.walk('latest=true&limit=100'));

  // The latest version is withdrawn, and a node appears with old dates: changes do not show it, the total does.
  await putGiven(dataSource, [
    { id: 'node-1', versions: [{ version: '3.0', status: 'NodeVersionStatusDeleted' }] },
    { id: 'of-old', created_at: '2019-01-01' },
  ]);
  expect(await mirror()).toMatchObject({ created: 1, changed: 1 });
  expect(await mirrored.walk('latest=true&limit=100')).toEqual(await original.walk('latest=true&limit=100'));
});

it('tries again, and goes on where it was cut off', async () => {
  // The third request and its next tries fail, the last of them for good: the first page is there, the rest is not.
  refusal = (count) => (count > 2 ? (count > 5 ? 404 : 503) : undefined);
  asked = [];
  const cutOff = await runAdmin(adminEnv(), 'registry', 'mirror', url(), '--full', '--per-second', '100');
  expect([cutOff.code, asked.length]).toEqual([1, 6]);

  refusal = (count) => (count === 2 ? 503 : undefined);
  expect(await mirror()).toMatchObject({ created: 0, changed: 0 });
  const pages = asked.filter(({ searchParams }) => searchParams.get('limit') === '100');
  expect(pages.map(({ searchParams }) => searchParams.get('page'))).toEqual(['2', '3', '3']);
  expect(pages.some(({ searchParams }) => searchParams.has('timestamp'))).toBe(false);
});

it('gives up on what is no registry', async () => {
  const { code, error } = await runAdmin(adminEnv(), 'registry', 'mirror', `${source().url}/health/live`);
  expect([code, error]).toEqual([1, expect.stringContaining('answers 404')]);
  expect((await runAdmin(adminEnv(), 'registry', 'mirror', 'file:///etc/passwd')).code).toBe(2);
});
