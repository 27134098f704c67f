import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadCatalog, type Model } from '#catalog';
import { server, usePublishingServer } from './importing.js';
import { runAdmin } from './run-admin.js';

usePublishingServer();

const keys = {
  PROVIDER_OPENAI_KEY: 'key-of-openai',
  PROVIDER_ANTHROPIC_KEY: 'key-of-anthropic',
  PROVIDER_GEMINI_INTERACTIONS_KEY: 'key-of-google',
  PROVIDER_XAI_KEY: 'key-of-xai',
};

interface Case {
  vendor: string;
  providers: string[];
  header: string;
  key: string;
  list: (names: readonly string[]) => object;
}

const data = (names: readonly string[]) => ({ data: names.map((id) => ({ id, created: 1 })) });
const cases: Case[] = [
  {
    vendor: 'openai',
    providers: ['openai'],
    header: 'authorization',
    key: 'Bearer key-of-openai',
    list: data,
  },
  { vendor: 'xai', providers: ['xai'], header: 'authorization', key: 'Bearer key-of-xai', list: data },
  { vendor: 'anthropic', providers: ['anthropic'], header: 'x-api-key', key: 'key-of-anthropic', list: data },
  {
    vendor: 'google',
    providers: ['google', 'gemini-interactions'],
    header: 'x-goog-api-key',
    key: 'key-of-google',
    list: (names) => ({ models: names.map((name) => ({ name: `models/${name}` })) }),
  },
];

const partOf = (id: string) => id.slice(id.indexOf('/') + 1);
const modelOf = ({ id, constants }: Model) => String(constants?.['model'] ?? partOf(id));

describe.each(cases)('admin catalog diff $vendor', ({ vendor, providers, header, key, list }) => {
  let rows: Model[];
  beforeAll(async () => {
    const { models } = await loadCatalog();
    rows = models.filter(({ provider }) => providers.includes(provider));
  });

  const diff = async (names: readonly string[]) => {
    server.models.set('/vendor/models', list(names));
    return runAdmin(keys, 'catalog', 'diff', vendor, '--api', `${server.url}/vendor`);
  };

  it('finds no difference in a list of our models, their aliases and their snapshots', async () => {
    const names = rows.flatMap((row) => [modelOf(row), ...row.aliases.map(partOf), ...row.snapshots]);
    const { code, out } = await diff(names);
    expect([code, out]).toEqual([0, expect.stringContaining(': 0 models added, 0 removed')]);
    expect(server.calls.map(({ headers }) => headers[header])).toEqual([key]);
  });

  it('names a model without a row, and the rows of a model that is no longer listed', async () => {
    const gone = modelOf(rows[0] as Model);
    const names = rows.map(modelOf).filter((name) => name !== gone);
    const { code, out } = await diff([...names, 'brand-new']);
    const removed = rows.filter((row) => modelOf(row) === gone).map(({ id }) => `Removed ${id} (${gone})`);
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual(expect.arrayContaining(['Added brand-new', ...removed]));
    expect(out).toContain(`1 models added, ${removed.length} removed`);
  });

  it('fails if the list is empty or refused', async () => {
    const empty = await diff([]);
    expect([empty.code, empty.error]).toEqual([1, expect.stringContaining('lists no models')]);
    server.failure = { status: 401, times: 9 };
    expect(await diff(['any'])).toMatchObject({ code: 1, error: expect.stringContaining('401') });
  });
});
