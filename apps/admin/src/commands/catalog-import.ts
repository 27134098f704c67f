import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { builtInDirectories, loadCatalog, type Model } from '#catalog';
import { parsedYaml, providerList, settingStem } from '#providers';
import { routerProviderSegment } from '#schemas';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { clearLine, type Answer, type Desk } from '../answer.js';
import { type Drift, compareModels } from '../catalog-import/compare-models.js';
import type { Source } from '../catalog-import/draft.js';
import { type Imported, importModels } from '../catalog-import/import-models.js';
import { RowDirectory } from '../catalog-import/row-directory.js';
import { SourceApi } from '../catalog-import/source-api.js';
import { falSource } from '../catalog-import/sources/fal.js';
import {
  factsOfRow,
  openAiCompatibleSource,
  type OperatorFacts,
} from '../catalog-import/sources/openai-compatible.js';
import { knownServers } from '../catalog-import/sources/served/known-servers.js';
import { servedKinds } from '../catalog-import/sources/served/served-kind.js';
import { replicateSource, type RunPrice } from '../catalog-import/sources/replicate.js';
import { vendorOf, vendorSource } from '../catalog-import/sources/vendor-list.js';
import { wholeNumber } from '../whole-number.js';

const falApi = 'https://api.fal.ai/v1';
const replicateApi = 'https://api.replicate.com/v1';

/** The commands that read what providers publish: `catalog import` and `catalog diff`. */
export function addImportCommands(catalog: Command, desk: Desk): void {
  const imports = catalog
    .command('import')
    .description(
      'Write rows from what a provider publishes. Exits with 1 if a model was skipped. Needs no database.',
    );
  addFalImport(imports, desk);
  addReplicateImport(imports, desk);
  addServerImport(imports, desk);
  addDiff(catalog, desk);
}

const to = ['--to <directory>', 'directory of the rows, which is created if needed'] as const;
const maxCents = [
  '--max-cents <n>',
  'upper bound of a run, if the input does not bound its price',
  wholeNumber(1),
] as const;

function addFalImport(imports: Command, desk: Desk): void {
  interface Options {
    endpoint?: string[];
    category?: string;
    query?: string;
    all?: true;
    to: string;
    maxCents?: number;
    api: string;
  }
  imports
    .command('fal')
    .description('Import endpoints of fal. PROVIDER_FAL_KEY is needed for their prices.')
    .option('--endpoint <id...>', 'endpoints to import')
    .option('--category <name>', 'category, such as text-to-image')
    .option('--query <text>', 'search text')
    .option('--all', 'import every active endpoint')
    .option(...maxCents)
    .requiredOption(...to)
    .option('--api <url>', 'address of the API', webAddress, falApi)
    .action(
      async (
        { endpoint, category, query, all, to: directory, maxCents: cents, api }: Options,
        command: Command,
      ) => {
        const isFiltered = category !== undefined || query !== undefined || all === true;
        if ((endpoint !== undefined) === isFiltered) {
          command.error('error: expected either --endpoint, or --category, --query or --all');
        }
        await importing(desk, directory, endpoint, (signal) => {
          const key = keyOf(desk, 'fal');
          const source = { api: falServer(key, api, signal), hasKey: key !== '' };
          return falSource({ ...source, category, query, maxCents: () => cents });
        });
      },
    );
}

function addReplicateImport(imports: Command, desk: Desk): void {
  interface Options {
    usd?: number;
    usdPerSecond?: number;
    maxCents?: number;
    to: string;
    api: string;
  }
  imports
    .command('replicate')
    .description('Import models of Replicate. Needs PROVIDER_REPLICATE_KEY.')
    .argument('<model...>', 'models, as owner/name', modelName)
    .option('--usd <amount>', 'price of a run, in US dollars', dollars)
    .option('--usd-per-second <amount>', 'price of a second of a run, in US dollars', dollars)
    .option(...maxCents)
    .requiredOption(...to)
    .option('--api <url>', 'address of the API', webAddress, replicateApi)
    .action(
      async (
        names: string[],
        { usd, usdPerSecond, maxCents: cents, to: directory, api }: Options,
        command: Command,
      ) => {
        const price: RunPrice | undefined =
          usd === undefined ? (usdPerSecond === undefined ? undefined : { usdPerSecond }) : { usd };
        if (price === undefined || (usd !== undefined && usdPerSecond !== undefined)) {
          command.error('error: expected either --usd or --usd-per-second');
        } else
          await importing(desk, directory, names, (signal) => replicateAt(desk, api, signal, price, cents));
      },
    );
}

function addServerImport(imports: Command, desk: Desk): void {
  interface Options extends OperatorFacts {
    baseUrl?: string;
    model?: string[];
    to: string;
  }
  imports
    .command('openai-compatible')
    .description(
      'Import a server with OpenAI’s API: its provider declaration, and a row for each model that it lists.',
    )
    .argument('<name>', 'name of the provider', providerName)
    .option(
      '--base-url <url>',
      `base URL of the API, such as http://127.0.0.1:11434/v1. Not needed for ${Object.keys(knownServers).join(', ')}.`,
      webAddress,
    )
    .option('--model <id...>', 'import only these models')
    .addOption(
      new Option('--kind <kind>', 'kind of models of which the server does not state it').choices(
        servedKinds,
      ),
    )
    .option('--usd-per-million-input <amount>', 'price of a million input tokens', dollars)
    .option('--usd-per-million-output <amount>', 'price of a million output tokens', dollars)
    .option('--context-tokens <n>', 'length of the context', wholeNumber(1))
    .option('--image-cents <n>', 'price of an image', wholeNumber(0))
    .requiredOption(...to)
    .action(
      async (
        name: string,
        { baseUrl = knownServers[name]?.base, model, to: directory, ...facts }: Options,
        command: Command,
      ) => {
        if (baseUrl === undefined)
          command.error('error: expected --base-url, because no known server has this name');
        await importing(desk, directory, model, (signal) =>
          openAiCompatibleSource({
            name,
            api: serverAt(desk, name, baseUrl, signal),
            declares: true,
            facts: () => facts,
          }),
        );
      },
    );
}

function addDiff(catalog: Command, desk: Desk): void {
  catalog
    .command('diff')
    .description(
      'Compare rows with what their provider publishes now: added, removed and deprecated models, changed fields and prices. Exits with 1 on drift. Needs no database.',
    )
    .argument(
      '<what>',
      'fal, replicate, openai, anthropic, google or xai, the name of an imported provider, or the file of an imported row',
    )
    .argument('[directory]', 'rows that add to, replace or hide built-in rows')
    .option('--category <name>', 'category of new endpoints of fal')
    .option('--query <text>', 'search text for new endpoints of fal')
    .option('--known', 'compare only models that have a row')
    .option('--api <url>', 'address of the API', webAddress)
    .action(async (what: string, directory: string | undefined, options: DiffOptions) => {
      const isFile = /\.ya?ml$/.test(what);
      const directories = [...builtInDirectories(), ...(directory === undefined ? [] : [directory])];
      const file = isFile ? await fileRow(what) : undefined;
      const rows = file
        ? [file]
        : (await loadCatalog({ directories })).models.filter(({ provider }) =>
            (vendorOf(what)?.providers ?? [what]).includes(provider),
          );
      desk.takesLong();
      const drift = await untilStopped(async (signal) => {
        const source = sourceOfRows(desk, file?.provider ?? what, rows, options, signal);
        return compareModels(source, rows, { listsAdded: !isFile && options.known !== true, signal });
      });
      desk.answer(driftAnswer(drift, rows.length));
    });
}

interface DiffOptions {
  category?: string;
  query?: string;
  known?: true;
  api?: string;
}

function sourceOfRows(
  desk: Desk,
  provider: string,
  rows: readonly Model[],
  options: DiffOptions,
  signal: AbortSignal,
): Source {
  const { api, category, query } = options;
  if (provider === 'fal') {
    const key = keyOf(desk, 'fal');
    if (key === '') desk.warn('prices are not compared without PROVIDER_FAL_KEY');
    // A bound that the operator gave must not count as a difference.
    const bounds = new Map(rows.map(({ upstream, price }) => [upstream.path, price.usd * 100]));
    return falSource({
      api: falServer(key, api ?? falApi, signal),
      hasKey: key !== '',
      category,
      query,
      maxCents: (name) => bounds.get(name),
    });
  }
  const vendor = vendorOf(provider);
  if (vendor) {
    const headers = vendor.headers(keyOf(desk, vendor.reader));
    return vendorSource(vendor, new SourceApi(api ?? vendor.base, headers, signal));
  }
  if (provider === 'replicate') return replicateAt(desk, api ?? replicateApi, signal, { usd: 0 }, undefined);
  const from = rows.find(({ generated }) => generated !== undefined)?.generated?.from;
  if (from === undefined) throw new Error(`there is no imported row of a provider "${provider}"`);
  const base = api ?? from.replace(/\/models(#.*)?$/, '');
  const source = openAiCompatibleSource({
    name: provider,
    api: serverAt(desk, provider, base, signal),
    declares: false,
    facts: (name) => known.get(name) ?? {},
  });
  const known = new Map(rows.map((row) => [source.nameOf(row), factsOfRow(row)]));
  return source;
}

/** The model of one file. Its provider may be declared elsewhere. */
async function fileRow(file: string): Promise<Model> {
  const { models } = await loadCatalog({ directories: [...builtInDirectories(), dirname(resolve(file))] });
  const { id } = Object(parsedYaml(await readFile(file, 'utf8'))) as Partial<Model>;
  const model = models.find((each) => each.id === id);
  if (!model?.generated) throw new Error(`${file} is not the row of an import`);
  return model;
}

async function importing(
  desk: Desk,
  directory: string,
  names: readonly string[] | undefined,
  sourceAt: (signal: AbortSignal) => Source,
): Promise<void> {
  desk.takesLong();
  const { models } = await loadCatalog();
  const result = await untilStopped(async (signal) =>
    importModels(sourceAt(signal), await RowDirectory.open(directory, models), {
      ...(names && { names }),
      signal,
      progress: (count) => desk.status?.(`\r${count} models`),
    }),
  );
  desk.status?.(clearLine);
  desk.answer(importAnswer(result, directory));
}

/** Runs work that SIGINT and SIGTERM end after the file that is being written. */
async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

const keyOf = (desk: Desk, provider: string): string =>
  desk.env[`${settingStem(provider)}_KEY`]?.trim() ?? '';

const falServer = (key: string, base: string, signal: AbortSignal): SourceApi =>
  new SourceApi(base, key === '' ? {} : { authorization: `Key ${key}` }, signal);

function serverAt(desk: Desk, name: string, base: string, signal: AbortSignal): SourceApi {
  const key = keyOf(desk, name);
  return new SourceApi(base, key === '' ? {} : { authorization: `Bearer ${key}` }, signal);
}

const replicateAt = (
  desk: Desk,
  base: string,
  signal: AbortSignal,
  price: RunPrice,
  cents: number | undefined,
): Source => replicateSource({ api: serverAt(desk, 'replicate', base, signal), price, maxCents: cents });

const importAnswer = (result: Imported, directory: string): Answer => {
  const { added, updated, unchanged, edited, bounded, skipped } = result;
  const counts = `${added.length} added, ${updated.length} updated, ${unchanged.length} unchanged`;
  return {
    document: { directory, ...result },
    text: [
      ...edited.map(({ name, reason }) => `Kept ${name}: ${reason}`),
      ...bounded.map(({ name, reason }) => `Bounded ${name}: ${reason}`),
      ...skipped.map(({ name, reason }) => `Skipped ${name}: ${reason}`),
      `${counts}, ${edited.length} kept, ${skipped.length} skipped.`,
    ].join('\n'),
    bad: skipped.length > 0,
  };
};

const driftAnswer = (drift: Drift, count: number): Answer => {
  const { added, removed, deprecated, changed, skipped } = drift;
  const lines = [
    ...added.map((name) => `Added ${name}`),
    ...removed.map(({ id, name }) => `Removed ${id} (${name})`),
    ...deprecated.map(({ id, name }) => `Deprecated ${id} (${name})`),
    ...changed.flatMap(({ id, changes }) => changes.map((change) => `Changed ${id}: ${change}`)),
    ...skipped.map(({ name, reason }) => `Skipped ${name}: ${reason}`),
  ];
  const summary = `${count} rows compared: ${added.length} models added, ${removed.length} removed, ${deprecated.length} deprecated, ${changed.length} changed, ${skipped.length} skipped.`;
  return { document: { rows: count, ...drift }, text: [...lines, summary].join('\n'), bad: lines.length > 0 };
};

/** An address without a trailing slash. */
function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
    throw new InvalidArgumentError('Expected an address such as https://api.example/v1.');
  }
  return text.replace(/\/+$/, '');
}

function dollars(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text))
    throw new InvalidArgumentError('Expected an amount in dollars, such as 0.25.');
  return Number(text);
}

function modelName(text: string, previous: string[] = []): string[] {
  if (!/^[\w.-]+\/[\w.-]+$/.test(text)) throw new InvalidArgumentError('Expected owner/name.');
  return [...previous, text];
}

function providerName(text: string): string {
  if (!routerProviderSegment.safeParse(text).success)
    throw new InvalidArgumentError('Expected lower-case letters and digits.');
  if (providerList.some(({ name }) => name === text))
    throw new InvalidArgumentError('A built-in provider has this name.');
  return text;
}
