import { beforeAll, describe, expect, it } from '@jest/globals';
import type { RegistryNodeList } from '#schemas';
import type { DataSource } from 'typeorm';
import { putGiven } from '../../registry/registry-side.js';
import { sharedGateway } from '../gateways.js';

// The registry is one list for the whole database, and only this file of the routes writes to it.
const gateway = sharedGateway();
let dataSource: DataSource;

const whole = {
  id: 'whole',
  name: 'Whole',
  description: 'Has everything',
  author: 'An author',
  category: 'image',
  tags: [],
  tags_admin: ['security-warning'],
  created_at: '2024-01-02T03:04:05.678Z',
  downloads: 9_007_199_254_740_991,
  github_stars: 7,
  rating: 4.25,
  search_ranking: -3,
  icon: 'https://nodes.example/icon.png',
  banner_url: 'https://nodes.example/banner.png',
  repository: 'https://git.example/whole',
  license: 'LICENSE',
  status: 'NodeStatusBanned',
  status_detail: 'for a test',
  preempted_app_node_names: ['Old'],
  supported_accelerators: ['CUDA'],
  supported_os: ['POSIX :: Linux'],
  supported_app_version: '>=1.0',
  supported_app_frontend_version: '>=2.0',
  translations: { de: { name: 'Ganz', description: null, more: { deep: [1, null] } } },
  publisher: {
    id: 'example',
    name: 'Example',
    description: 'A publisher',
    logo: 'https://nodes.example/logo.png',
    website: 'https://example.org',
    support: 'https://example.org/support',
    source_code_repo: 'https://git.example',
    createdAt: '2023-01-01T00:00:00.000Z',
    status: 'PublisherStatusActive',
    members: [{ id: 'm1', role: 'owner', user: { id: 'u1', name: 'A User' } }],
  },
};
const version = {
  id: 'v1',
  node_id: 'whole',
  version: '1.0.0',
  changelog: 'First',
  createdAt: '2024-01-02T03:04:05.678Z',
  deprecated: false,
  dependencies: ['numpy'],
  downloadUrl: 'https://nodes.example/whole-1.0.0.zip',
  status: 'NodeVersionStatusActive',
  status_reason: 'fine',
  app_node_extract_status: 'done',
  supported_accelerators: ['CUDA'],
  supported_os: [],
  supported_app_version: '>=1.0',
  supported_app_frontend_version: '>=2.0',
  tags: ['a'],
  tags_admin: [],
};

beforeAll(async () => {
  dataSource = await gateway().database.dataSource();
  await putGiven(dataSource, [
    {
      ...whole,
      latest_version: version,
      publisher: {
        ...whole.publisher,
        members: [{ id: 'm1', role: 'owner', user: { id: 'u1', name: 'A User', email: 'user@example.org' } }],
      },
    },
    ...['bare', 'b2'].map((id) => ({ id, created_at: '2020-01-01T00:00:00Z' })),
    {
      id: 'b3',
      created_at: '2020-01-01T00:00:00Z',
      latest_version: { version: '1.0', createdAt: '2020-01-01T00:00:00Z' },
    },
  ]);
});

/** Reads from the database, because another file may have cached an empty page. */
async function list(query: string): Promise<RegistryNodeList> {
  const answer = await fetch(`${gateway().url}/nodes?${query}${query === '' ? '' : '&'}latest=true`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'application/json; charset=utf-8',
  ]);
  return (await answer.json()) as RegistryNodeList;
}

const idsOf = async (query: string) => (await list(query)).nodes.map(({ id }) => id);

describe('a node', () => {
  it('is listed with all of its fields, but without e-mail addresses', async () => {
    const { nodes } = await list('node_id=whole');
    expect(nodes).toEqual([{ ...whole, latest_version: version }]);
  });

  it('has a latest version with an id, even if none was imported', async () => {
    const { nodes } = await list('node_id=b3');
    expect(nodes[0]?.latest_version).toEqual({
      id: 'b3@1.0',
      node_id: 'b3',
      version: '1.0',
      createdAt: '2020-01-01T00:00:00.000Z',
      status: 'NodeVersionStatusActive',
    });
  });

  it('omits fields without a value', async () => {
    const { nodes } = await list('node_id=bare');
    expect(nodes).toEqual([
      {
        id: 'bare',
        name: 'bare',
        description: '',
        created_at: '2020-01-01T00:00:00.000Z',
        status: 'NodeStatusActive',
      },
    ]);
  });
});

describe('paging', () => {
  it.each([
    ['', { page: 1, limit: 10, total: 4, totalPages: 1 }],
    ['limit=0', { limit: 10 }],
    ['limit=-7', { limit: 10 }],
    ['limit=101', { limit: 100 }],
    [`limit=${'9'.repeat(400)}`, { limit: 100 }],
    ['limit=3', { limit: 3, totalPages: 2 }],
    ['page=0', { page: 1 }],
    ['page=-1', { page: 1 }],
    ['page=2', { page: 2, nodes: [], total: 4 }],
    ['page=9007199254740991&limit=100', { page: 9_007_199_254_740_991, nodes: [], total: 4 }],
    [`page=${'9'.repeat(400)}`, { page: 9_007_199_254_740_991, nodes: [], total: 4 }],
    ['node_id=nobody', { nodes: [], total: 0, totalPages: 0 }],
  ])('accepts ?%s', async (query, expected) => expect(await list(query)).toMatchObject(expected));
});

describe('values', () => {
  it.each([
    ['node_id=b2&node_id=b3&node_id=b2', ['b2', 'b3']],
    ['node_id[]=b2&node_id%5B%5D=b3', ['b2', 'b3']],
    ['node_id=b2&node_id[]=b3', ['b2', 'b3']],
    ['node_id=b2', ['b2']],
    ['node_id=b2,b3', []],
    ['node_id=%00&node_id=b%002&node_id=b2', ['b2']],
    ['node_id=%00', []],
    ['node_id=%ff%zz%', []],
    [`node_id=${'b2&node_id='.repeat(1000)}b3`, ['b2', 'b3']],
    ["node_id=b2' OR '1'='1", []],
    [`${'sort=downloads;desc&'.repeat(500)}limit=1`, ['whole']],
    ['sort=downloads%3Bdesc&limit=1', ['whole']],
    ['sort[]=id;desc&limit=2', ['whole', 'bare']],
    ['sort=name&sort=author&sort=category&sort=rating&sort=downloads&limit=1', ['whole']],
    ...[
      'description',
      'license',
      'repository',
      'icon',
      'banner_url',
      'publisher_id',
      'status_detail',
      'supported_app_version',
      'supported_app_frontend_version',
    ].map((column): [string, string[]] => [
      `sort=${column};desc&node_id=whole&node_id=bare`,
      ['whole', 'bare'],
    ]),
    ['sort=&supported_os=&node_id=&app_version=&form_factor=', ['b2', 'b3', 'bare', 'whole']],
    ['include_banned=FALSE', ['b2', 'b3', 'bare']],
    ['include_banned=true', ['b2', 'b3', 'bare', 'whole']],
    ['supported_os=%00', ['b2', 'b3', 'bare']],
    ['app_version=%00', ['b2', 'b3', 'bare']],
    ['timestamp=2020-01-01T00:00:00Z', ['whole']],
    ['timestamp=2020-01-01T01:00:00+01:00', ['whole']],
    ['timestamp=2020-01-01T01:00:00.001%2B01:00', ['whole']],
    ['timestamp=2019-W52', ['b2', 'b3', 'bare', 'whole']],
    ['timestamp=-200000-01-01', ['b2', 'b3', 'bare', 'whole']],
    ['timestamp=%2B012000-01-01', []],
    ['nothing=known&__proto__=x&constructor=y', ['b2', 'b3', 'bare', 'whole']],
  ])('accepts ?%.80s', async (query, ids) => expect(await idsOf(query)).toEqual(ids));
});

it('needs no credential, and ignores a bad one', async () => {
  const answer = await fetch(`${gateway().url}/nodes`, {
    headers: { authorization: 'Bearer nonsense', 'x-api-key': 'none' },
  });
  expect(answer.status).toBe(200);
});

it.each(['latest=true', ''])('HEAD answers with the headers of a page: ?%s', async (query) => {
  const answer = await fetch(`${gateway().url}/nodes?${query}`, { method: 'HEAD' });
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    200,
    'application/json; charset=utf-8',
    '',
  ]);
  expect((await fetch(`${gateway().url}/nodes?page=x`, { method: 'HEAD' })).status).toBe(400);
});
