import { beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { NodeModerationRepository, NodeRepository } from '#persistence';
import type { DataSource } from 'typeorm';
import { importNodes } from '../../apps/admin/src/registry/import-nodes.js';
import { runAdmin } from '../admin/run-admin.js';
import { failOnLeftovers, temporaryFolder } from '../harness/index.js';
import { registryForFile, type RegistryReader } from './registry-side.js';

const registry = registryForFile();
let reader: RegistryReader;
const folder = temporaryFolder('nodes');
let dataSource: DataSource;
beforeAll(() => {
  ({ dataSource, reader } = registry());
});

function fileOf(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Runs the import in this process. */
const imported = (file: string, ...more: string[]) =>
  importNodes([file, ...more], new NodeRepository(dataSource), { dryRun: false, progress: () => {} });

/** Runs the command. */
async function commanded(...words: string[]) {
  const { code, out, error } = await runAdmin(
    { DATABASE_URL: registry().databaseUrl },
    'registry',
    ...words,
    '--json',
  );
  return { code, error, document: out === '' ? null : (JSON.parse(out) as Record<string, unknown>) };
}

const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

const put = (...records: unknown[]) => imported(fileOf('records.jsonl', lines(...records)));

const putVersions = (...versions: unknown[]) => put({ id: 'versioned', created_at: '2020-01-01', versions });

const latestVersion = async () =>
  (await reader.list('latest=true&node_id=versioned')).nodes[0]?.latest_version?.version;

const changedAfter = (moment: string) =>
  reader.ids(`latest=true&node_id=versioned&timestamp=${encodeURIComponent(moment)}`);

const moderation = () => new NodeModerationRepository(dataSource);

const moderatedRecord = {
  id: 'moderated',
  name: 'Moderated',
  status: 'NodeStatusActive',
  tags_admin: ['from-record'],
  publisher: { id: 'press', status: 'PublisherStatusActive' },
};

/** A change of some kind, so that the import writes the node. */
const reimport = (changes: object = {}) =>
  put({ ...moderatedRecord, name: `Moderated ${Math.random()}`, ...changes });

const moderatedNode = async () => (await reader.list('latest=true&node_id=moderated')).nodes[0];

const listedUnbanned = () => reader.ids('latest=true&include_banned=false&node_id=moderated');

/** Records with a subset of the fields, as lists of nodes outside registries have them. */
const subset = Array.from({ length: 1200 }, (_, index) => ({
  id: `subset-${(index * 577) % 1200}`,
  name: `Node ${index % 40}`,
  description: 'Does something',
  tags: [],
  github_stars: index % 9 === 0 ? null : index % 50,
  last_update: '2024-10-26 13:22:39',
  publisher_id: index % 100 === 0 ? null : `Publisher-${index % 60}`,
  node_names: ['A', 'B'],
}));

describe('registry import', () => {
  it('accepts records with a subset of the fields, and their pages have no gaps or overlaps', async () => {
    const file = fileOf('subset.jsonl', lines(...subset));
    expect(await commanded('import', file)).toMatchObject({
      code: 0,
      document: { read: 1200, created: 1200, unchanged: 0, rejected: [] },
    });
    const ids = new Set(subset.map(({ id }) => id));
    for (const query of [
      'limit=30',
      'limit=30&sort=github_stars;desc',
      'limit=30&sort=name&sort=author;desc',
    ]) {
      const walked = await reader.walk(query);
      expect(new Set(walked.map(({ id }) => id))).toEqual(ids);
      expect(walked).toHaveLength(1200);
    }
    const [node] = (await reader.list('node_id=subset-577')).nodes;
    expect(node?.publisher).toEqual({ id: 'publisher-1', status: 'PublisherStatusActive' });
    expect(await imported(file)).toMatchObject({ read: 1200, created: 0, changed: 0 });
  });

  it('reports each bad record with line and reason, and imports the others', async () => {
    const file = fileOf(
      'bad.jsonl',
      [
        '\uFEFF{"id": "good-1"}',
        '{"id": "broken"',
        '',
        '{"name": "without id"}',
        '{"id": "types", "downloads": "many", "tags": "a", "created_at": "yesterday"}',
        '{"id": "status", "status": "NodeStatusUnknown"}',
        String.raw`{"id": "nul", "description": "a\u0000b"}`,
        String.raw`{"id": "half", "translations": {"de": {"name": "\ud800"}}}`,
        String.raw`{"id": "backslash", "description": "no NUL: \\u0000"}`,
        `{"id": "long", "name": ${JSON.stringify('é'.repeat(300))}}`,
        '{"id": "version", "latest_version": {"changelog": "no version"}}',
        '[]',
        'null',
        '{"id": "good-2"}',
      ].join('\r\n'),
    );
    const { created, rejected } = await imported(file);
    expect(created).toBe(3);
    expect(rejected.map(({ line }) => line).sort((a, b) => a - b)).toEqual([
      2, 4, 5, 6, 7, 8, 10, 11, 12, 13,
    ]);
    const reasonAt = (line: number) => rejected.find((each) => each.line === line)?.reason;
    expect(reasonAt(4)).toContain('id: ');
    expect(reasonAt(5)).toMatch(/downloads: .*/);
    expect(reasonAt(7)).toContain('u0000');
    expect(reasonAt(11)).toContain('latest_version.version: ');
    expect(
      await reader.ids('latest=true&node_id=good-1&node_id=good-2&node_id=backslash&node_id=half'),
    ).toEqual(['backslash', 'good-1', 'good-2']);
  });

  it('accepts an array, a page, one node and several files, and counts their lines', async () => {
    const array = fileOf('array.json', '[\n  {"id": "array-1"},\n  {"id":\n  7}, {"id": "array-2"}\n]');
    const page = fileOf(
      'page.json',
      '{"page": 1, "other": ["nodes"], "nodes": [\n{"id": "page-1"},\n\n{"id": ""}], "total": 2}',
    );
    const one = fileOf('one.json', '{\n  "id": "one"\n}\n');
    const nothing = fileOf('nothing.jsonl', '');
    const result = await imported(array, page, one, nothing);
    expect(result).toMatchObject({ read: 6, created: 4 });
    expect(result.rejected.map(({ file, line }) => [file, line])).toEqual([
      [array, 3],
      [page, 4],
    ]);
  });

  it('treats an empty version and an empty publisher as absent', async () => {
    const record = { id: 'bare', latest_version: { version: '1.0.0' }, publisher: { id: 'someone' } };
    await put(record);
    expect(await put({ id: 'bare', latest_version: {}, publisher: {} })).toMatchObject({ rejected: [] });
    const [node] = (await reader.list('latest=true&node_id=bare')).nodes;
    expect(node).toMatchObject(record);
  });

  it('changes the fields of a record, keeps the others, and clears those that are null', async () => {
    await put({ id: 'kept', name: 'Before', author: 'An author', tags: ['a'], status: 'NodeStatusBanned' });
    expect(await put({ id: 'kept', author: null, license: 'MIT' })).toMatchObject({ created: 0, changed: 1 });
    const { created_at, ...node } = (await reader.list('latest=true&node_id=kept')).nodes[0] ?? {};
    expect(created_at).toMatch(/Z$/);
    expect(node).toEqual({
      id: 'kept',
      name: 'Before',
      description: '',
      tags: ['a'],
      license: 'MIT',
      status: 'NodeStatusBanned',
    });
    // If a node occurs twice in a file, the later record counts.
    expect(await put({ id: 'kept', name: 'First' }, { id: 'kept', name: 'Second' })).toMatchObject({
      changed: 2,
    });
    expect((await reader.list('latest=true&node_id=kept')).nodes[0]?.name).toBe('Second');
  });

  it('updates a node with its version, and lists the newest active one', async () => {
    await putVersions(
      { version: '1.0', createdAt: '2021-01-01' },
      { version: '0.9', createdAt: '2020-06-01' },
    );
    expect([
      await latestVersion(),
      await changedAfter('2021-01-01'),
      await changedAfter('2020-12-31'),
    ]).toEqual(['1.0', [], ['versioned']]);
    const before = new Date().toISOString();
    await putVersions({ version: '2.0', createdAt: '2021-05-01', status: 'NodeVersionStatusPending' });
    expect([await latestVersion(), await changedAfter(before)]).toEqual(['1.0', ['versioned']]);
    expect(await putVersions({ version: '2.0', status: 'NodeVersionStatusActive' })).toMatchObject({
      changed: 1,
    });
    expect(await latestVersion()).toBe('2.0');
    expect(await putVersions({ version: '2.0' })).toMatchObject({ changed: 0 });
  });

  it('in a dry run only reports what it would do', async () => {
    const file = fileOf('dry.jsonl', lines({ id: 'dry' }, { id: 'kept', name: 'Dry' }, { id: '' }));
    expect(await commanded('import', file, '--dry-run')).toMatchObject({
      code: 1,
      document: {
        dry_run: true,
        created: 1,
        changed: 1,
        rejected: [{ file, line: 3, reason: expect.any(String) }],
      },
    });
    expect(await reader.ids('latest=true&node_id=dry')).toEqual([]);
  });

  it('exits with 1 and one line for a file that does not exist', async () => {
    const { code, error } = await commanded('import', '/nowhere.jsonl');
    expect([code, error.split('\n').length]).toEqual([1, 2]);
    expect(error).toContain('/nowhere.jsonl');
  });
});

describe('moderation', () => {
  it('survives imports until the operator ends it', async () => {
    await reimport();
    const before = new Date().toISOString();
    await commanded('ban', 'moderated', '--reason', 'steals keys');
    expect(await reader.ids(`latest=true&timestamp=${before}&node_id=moderated`)).toEqual(['moderated']);
    await reimport();
    expect(await moderatedNode()).toMatchObject({ status: 'NodeStatusBanned', status_detail: 'steals keys' });
    expect(await listedUnbanned()).toEqual([]);
    await moderation().unban('node', 'moderated', 'test');
    expect(await moderatedNode()).toMatchObject({ status: 'NodeStatusActive' });
    expect(await moderatedNode()).not.toHaveProperty('status_detail');

    await reimport({ status: 'NodeStatusBanned' });
    expect(await listedUnbanned()).toEqual([]);
    await moderation().unban('node', 'moderated', 'test');
    await reimport({ status: 'NodeStatusBanned' });
    expect(await listedUnbanned()).toEqual(['moderated']);

    await commanded('tag', 'moderated', 'security-warning', 'reviewed');
    await reimport();
    expect((await moderatedNode())?.tags_admin).toEqual(['security-warning', 'reviewed']);
    await moderation().tag('moderated', [], 'test');
    expect((await moderatedNode())?.tags_admin).toEqual([]);
    await moderation().tag('moderated', null, 'test');
    expect((await moderatedNode())?.tags_admin).toEqual(['from-record']);
  });

  it('bans the nodes of a banned publisher', async () => {
    await reimport({ status: 'NodeStatusActive' });
    await moderation().ban('publisher', 'press', null, 'test');
    await reimport({ status: 'NodeStatusActive' });
    expect(await moderatedNode()).toMatchObject({
      status: 'NodeStatusActive',
      publisher: { status: 'PublisherStatusBanned' },
    });
    expect(await listedUnbanned()).toEqual([]);
    await moderation().unban('publisher', 'press', 'test');
    expect(await listedUnbanned()).toEqual(['moderated']);
  });

  it('is recorded with its author, unless nothing changed', async () => {
    await commanded('ban', 'moderated', '--reason', 'steals keys');
    await commanded('unban', 'moderated');
    await commanded('tag', 'moderated', 'reviewed');
    await commanded('ban', 'press', '--publisher');
    await commanded('unban', 'press', '--publisher');
    await commanded('ban', 'nobody');
    const actions = await dataSource.query<object[]>(
      `SELECT action, subject, details FROM operator_action WHERE actor LIKE 'admin:%' ORDER BY id DESC LIMIT 5`,
    );
    expect(actions.toReversed()).toEqual([
      { action: 'node.ban', subject: 'moderated', details: { detail: 'steals keys' } },
      { action: 'node.unban', subject: 'moderated', details: {} },
      { action: 'node.tag', subject: 'moderated', details: { tags: ['reviewed'] } },
      { action: 'publisher.ban', subject: 'press', details: {} },
      { action: 'publisher.unban', subject: 'press', details: {} },
    ]);
  });

  it('is rejected for unknown names', async () => {
    expect(await moderation().ban('node', 'nobody', null, 'test')).toBe(false);
    expect(await moderation().tag('nobody', ['x'], 'test')).toBe(false);
    expect((await commanded('unban', 'nobody', '--publisher')).code).toBe(1);
  });
});

failOnLeftovers();
