import { beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { NodeRepository } from '#persistence';
import { failOnLeftovers } from '../harness/index.js';
import { type GivenNode, recordsOf, registryForFile, type RegistryReader } from './registry-side.js';

const registry = registryForFile();
let reader: RegistryReader;
let dataSource: DataSource;
/** One import, with a batch for each `put`. */
let writing: NodeRepository;
beforeAll(() => {
  ({ dataSource, reader } = registry());
  writing = new NodeRepository(dataSource);
});

const put = (...nodes: GivenNode[]) => writing.put(recordsOf(nodes));
const nodeNow = async (id: string) => (await reader.list(`latest=true&node_id=${id}`)).nodes[0];

const published = (name: string, ...members: string[]) => ({
  id: 'published',
  publisher: { id: 'press', name, members: members.map((id) => ({ id, role: 'owner' })) },
});

it('keeps the fields that a record of a batch does not have', async () => {
  await put({ id: 'left', license: 'MIT', downloads: 5 }, { id: 'right', license: 'MIT', downloads: 5 });
  const batch = [
    { id: 'left', license: 'BSD' },
    { id: 'right', downloads: null, author: 'An author' },
    { id: 'third', author: 'An author', downloads: 7, supported_os: ['MacOS'] },
  ];
  expect(await put(...batch)).toEqual({ created: 1, changed: 2 });
  expect(await put(...batch)).toEqual({ created: 0, changed: 0 });
  const { nodes } = await reader.list('latest=true&node_id=left&node_id=right&node_id=third');
  expect(nodes.map(({ id, license, author, downloads }) => [id, license, author, downloads])).toEqual([
    ['left', 'BSD', undefined, 5],
    ['right', 'MIT', 'An author', undefined],
    ['third', undefined, 'An author', 7],
  ]);
});

it('uses the last record of a publisher, whichever node it comes with', async () => {
  for (const batch of [published('One', 'a', 'b'), published('Two', 'b'), published('One', 'a', 'b')])
    await put(batch);
  expect((await nodeNow('published'))?.publisher).toMatchObject({
    name: 'One',
    members: [{ id: 'a' }, { id: 'b' }],
  });
  const website = 'https://press.example';
  await put(published('One', 'b', 'c', 'd'), { id: 'other', publisher: { id: 'press', website } });
  expect((await nodeNow('published'))?.publisher).toMatchObject({
    name: 'One',
    website,
    members: [{ id: 'b' }, { id: 'c' }, { id: 'd' }],
  });
  await put(published('One'));
  expect((await nodeNow('other'))?.publisher).not.toHaveProperty('members');
});

it('writes a publisher with the next batch if the first one failed', async () => {
  const publisher = { id: 'late', name: 'Late' };
  const refused = { node: { id: 'refused', downloads: 'many' }, publisher, versions: [] };
  await expect(writing.put([refused])).rejects.toThrow('invalid input syntax for type bigint');
  await put({ id: 'taken', publisher });
  expect((await nodeNow('taken'))?.publisher).toMatchObject(publisher);
});

failOnLeftovers();
