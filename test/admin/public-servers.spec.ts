import { describe, expect, it } from '@jest/globals';
import { checkRow, inputErrors } from '#catalog';
import { documentsOf, type Found } from '../../apps/admin/src/catalog-import/draft.js';
import { SourceApi } from '../../apps/admin/src/catalog-import/source-api.js';
import {
  openAiCompatibleSource,
  type OperatorFacts,
} from '../../apps/admin/src/catalog-import/sources/openai-compatible.js';
import { server, usePublishingServer } from './importing.js';
import { publicServers } from './public-servers/index.js';

usePublishingServer();

const { signal } = new AbortController();

async function found(list: object[], facts: OperatorFacts = {}): Promise<Found[]> {
  server.served = list;
  const api = new SourceApi(`${server.url}/openai`, {}, signal);
  const all: Found[] = [];
  const source = openAiCompatibleSource({ name: 'lab', api, declares: false, facts: () => facts });
  for await (const each of source.drafts()) all.push(each);
  return all;
}

interface Row {
  upstream: { path: string };
  constants: { model: string };
  modalities: { in: string[] };
  ends?: string;
  successor?: string;
  input: { properties: Record<string, unknown> };
  price: {
    usd: number;
    times: { max?: number }[];
    reported?: { path: string; usd: number; when?: object }[];
  };
}

const rowsIn = (all: Found[]): Record<string, Row> =>
  Object.fromEntries(
    all.flatMap((each) => ('draft' in each ? [[each.name, each.draft.row as unknown as Row]] : [])),
  );

const perMillion = (usd: number) => Number((usd * 1e6).toPrecision(9));

describe.each(publicServers)('a list as $server publishes it', ({ list, facts, rows, skipped }) => {
  it('becomes rows with the kind, context and price of the server', async () => {
    const summaries = Object.entries(rowsIn(await found(list, facts))).map(([name, row]) => {
      const { usd, times, reported } = row.price;
      const billed = reported?.filter(({ when }) => when === undefined).map((term) => perMillion(term.usd));
      return [
        name,
        {
          path: row.upstream.path,
          model: row.constants.model,
          in: row.modalities.in,
          ...(billed && { context: times[0]?.max }),
          usd: billed ?? [usd],
          ...(row.ends !== undefined && { ends: row.ends }),
        },
      ];
    });
    expect(Object.fromEntries(summaries)).toEqual(rows);
  });

  it('names every entry without a row, and the reason', async () => {
    const all = await found(list, facts);
    expect(
      Object.fromEntries(all.flatMap((each) => ('skipped' in each ? [[each.name, each.skipped]] : []))),
    ).toEqual(skipped);
  });

  it('becomes rows that a catalog accepts', async () => {
    const problems = (await found(list, facts)).flatMap((each) =>
      'draft' in each ? checkRow(each.draft.row, documentsOf(each.draft)).problems : [],
    );
    expect(problems).toEqual([]);
  });
});

it('an answer to a long input is billed by the rates of its tier', async () => {
  const list = publicServers.find((each) => each.server === 'Vercel')?.list ?? [];
  const { price } = rowsIn(await found(list))['alibaba/qwen-max'] ?? {};
  const when = { path: '/usage/prompt_tokens', above: 32_000 };
  expect(price?.reported?.filter((term) => term.when)).toEqual([
    {
      path: '/usage/prompt_tokens',
      minus: '/usage/prompt_tokens_details/cached_tokens',
      when,
      usd: 0.0000012,
    },
    { path: '/usage/completion_tokens', when, usd: 0.000006 },
  ]);
});

it('a model with an announced end names its successor, if the server lists it', async () => {
  const list = publicServers.find((each) => each.server === 'Mistral')?.list ?? [];
  const facts = { usdPerMillionInput: 1, usdPerMillionOutput: 1 };
  expect(rowsIn(await found(list, facts))['magistral-old']).toMatchObject({
    ends: '2199-11-30',
    successor: 'lab/mistral-medium-2508',
  });
});

it('flags replace what the server publishes, except the kind', async () => {
  const list = publicServers.find((each) => each.server === 'DeepInfra')?.list ?? [];
  const facts = { kind: 'image', usdPerMillionInput: 0, usdPerMillionOutput: 7, contextTokens: 100 } as const;
  const { price, upstream } = rowsIn(await found(list, facts))['vendor/maverick'] ?? {};
  expect([upstream?.path, price?.times[0]?.max, price?.usd]).toEqual(['chat/completions', 100, 0]);
  expect(price?.reported?.map(({ usd }) => perMillion(usd))).toEqual([0, 7]);
});

it('fields with a price of their own are rejected', async () => {
  const list = publicServers.find((each) => each.server === 'OpenRouter')?.list ?? [];
  const { input } = rowsIn(await found(list))['vendor/chat'] ?? {};
  expect(Object.keys(input?.properties ?? {})).toEqual(
    expect.arrayContaining(['web_search_options', 'plugins']),
  );
});

it('tools that run at the server are rejected', async () => {
  const [entry] = await found([
    { id: 'a', type: 'chat', context_length: 100, pricing: { input: 1, output: 1 } },
  ]);
  const { model } = entry && 'draft' in entry ? checkRow(entry.draft.row) : {};
  const typesFor = (type: string) =>
    model &&
    inputErrors(model, { messages: [{ role: 'user' }], tools: [{ type }] }).map((error) => error.type);
  expect(['function', 'web_search'].map(typesFor)).toEqual([[], ['enum']]);
});

it.each([
  [
    'an input rate of 5 dollars a token',
    { prompt: '5', completion: '5' },
    'its published price is implausibly high',
  ],
  ['a number without an agreed unit', { prompt: 0.5, completion: 1 }, 'the server publishes no price'],
  ['no price', undefined, 'the server publishes no price'],
])('%s is not taken', async (_name, pricing, reason) => {
  const [entry] = await found([{ id: 'a', type: 'chat', context_length: 100, pricing }]);
  expect(entry).toMatchObject({ skipped: expect.stringContaining(reason) });
});
