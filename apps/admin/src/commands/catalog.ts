import { readFile } from 'node:fs/promises';
import {
  builtInDirectories,
  catalogCheckSettings,
  type CatalogProblem,
  catalogSchemas,
  checkCatalog,
  loadCatalog,
  type Model,
  nextPrice,
  pricedAt,
  priceText,
  quote,
  reportedText,
} from '#catalog';
import { type OvershootRepository, type RunningProcess, runningProcesses } from '#persistence';
import { centsFromMicros, readSettings } from '#schemas';
import { Argument } from 'commander';
import { type Coverage, coverageOf } from '../catalog-coverage.js';
import { answering, withDatabase } from '../open-database.js';
import { clearLine } from '../answer.js';
import { instant } from '../option-values.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';
import { addImportCommands } from './catalog-import.js';

export const catalogCommands: CommandSetup = (catalog, desk) => {
  catalog
    .command('check')
    .description(
      'Check the built-in catalog, optionally combined with the rows of a directory. Needs no database.',
    )
    .argument('[directory]', 'rows that add to, replace or hide built-in rows, and providers')
    .action(async (directory: string | undefined) => {
      const directories = [...builtInDirectories(), ...(directory === undefined ? [] : [directory])];
      const { CATALOG_PRICE_DAYS: days } = readSettings(catalogCheckSettings, desk.env);
      const checking = (models: number, of: number) => desk.status?.(`\r${models} of ${of} models`);
      const findings = await checkCatalog({ directories }, checking, days);
      desk.status?.(clearLine);
      const problems = findings.filter(({ isWarning }) => !isWarning).map(problemDocument);
      const warnings = findings.filter(({ isWarning }) => isWarning).map(problemDocument);
      const warned = warnings.map((each) => `Warning: ${problemLine(each)}`);
      if (problems.length > 0) {
        const text = [...problems.map(problemLine), ...warned].join('\n');
        desk.answer({ document: { problems, warnings }, text, bad: true });
        return;
      }
      const { models, revision } = await loadCatalog({ directories });
      desk.answer({
        document: { models: models.length, revision, problems, warnings },
        text: [`${models.length} models, no problems. Revision ${short(revision)}.`, ...warned].join('\n'),
      });
    });

  catalog
    .command('prices')
    .description(
      'List the price of each model, and the reserved and computed price of its example. Needs no database.',
    )
    .argument('[directory]', 'rows that add to, replace or hide built-in rows')
    .option('--on <time>', 'the prices of another time, such as 2027-01-01', instant)
    .action(async (directory: string | undefined, { on = new Date() }: { on?: Date }) => {
      const directories = [...builtInDirectories(), ...(directory === undefined ? [] : [directory])];
      const { models } = await loadCatalog({ directories });
      const prices = models.map((model) => priceDocument(pricedAt(model, on.getTime())));
      desk.answer({ document: { models: prices }, text: pricesText(prices) });
    });

  catalog
    .command('coverage')
    .description('Compare the catalog with a list of model ids. Needs no database.')
    .argument('[directory]', 'rows that add to, replace or hide built-in rows')
    .requiredOption('--list <file>', 'file with one id per line, or one JSON object with an id per line')
    .action(async (directory: string | undefined, { list }: { list: string }) => {
      const directories = [...builtInDirectories(), ...(directory === undefined ? [] : [directory])];
      const coverage = coverageOf(await loadCatalog({ directories }), await readFile(list, 'utf8'));
      desk.answer({ document: coverage, text: coverageText(coverage) });
    });

  catalog
    .command('status')
    .description(
      'Show the catalog revision of each running gateway and worker. Exits with 1 if they differ or a reload failed.',
    )
    .action(async () => {
      const processes = await withDatabase(desk.env, runningProcesses);
      const agreed = new Set(processes.map(({ revision }) => revision)).size <= 1;
      const bad = !agreed || processes.some(({ problem }) => problem !== null);
      desk.answer({
        document: { agreed, processes: processes.map(processDocument) },
        text: statusText(processes, agreed),
        bad,
      });
    });

  catalog
    .command('schema')
    .description('Print the JSON Schema of a kind of catalog file, for use in editors.')
    .addArgument(new Argument('<kind>', 'kind of the file').choices(Object.keys(catalogSchemas)))
    .action((kind: keyof typeof catalogSchemas) => {
      const document = catalogSchemas[kind]();
      desk.answer({ document, text: JSON.stringify(document, null, 2) });
    });

  catalog
    .command('overshoot')
    .description(
      'List the rows whose provider charged more than their bound, with the factor by which their bounds are lifted, or clear them.',
    )
    .argument('[model]', 'id of a row')
    .option('--clear', 'use the bounds of the rows again: of the row, or of all')
    .action(
      answering(
        desk,
        async ({ overshoots, actor }, model: string | undefined, { clear }: { clear?: true }) => {
          if (clear === true) {
            const cleared = await overshoots.clear(model, actor);
            return { document: { cleared }, text: `${cleared} lifted bound(s) are cleared.` };
          }
          const rows = (await overshoots.list()).filter(
            (each) => model === undefined || each.model === model,
          );
          return { document: { overshoots: rows.map(overshootDocument) }, text: overshootText(rows) };
        },
      ),
    );

  addImportCommands(catalog, desk);
};

type Overshoot = Awaited<ReturnType<OvershootRepository['list']>>[number];

const overshootDocument = ({ model, price, lift, runs, lostMicros, runId, firstAt, lastAt }: Overshoot) => ({
  model,
  price,
  lift,
  runs,
  lost_cents: centsFromMicros(lostMicros),
  request_id: runId,
  first_at: firstAt.toISOString(),
  last_at: lastAt.toISOString(),
});

const overshootText = (rows: readonly Overshoot[]): string =>
  table(rows.map(overshootDocument), {
    MODEL: ({ model }) => model,
    'BOUND TIMES': ({ lift }) => lift.toFixed(2),
    RUNS: ({ runs }) => runs,
    'LOST (CENTS)': ({ lost_cents }) => lost_cents,
    'LAST RUN': ({ request_id }) => request_id,
    LAST: ({ last_at }) => last_at,
  });

const priceDocument = (model: Model) => {
  const { upperMicros, computedMicros, basis } = quote(model, model.example ?? {});
  return {
    model: model.id,
    price: model.price,
    next: nextPrice(model),
    example: {
      reserved_cents: centsFromMicros(upperMicros),
      computed_cents: centsFromMicros(computedMicros),
      basis,
    },
  };
};

const pricesText = (prices: readonly ReturnType<typeof priceDocument>[]): string =>
  table(prices, {
    MODEL: ({ model }) => model,
    PRICE: ({ price }) => priceText(price),
    REPORTED: ({ price }) => reportedText(price) || '-',
    'EXAMPLE: RESERVED': ({ example }) => example.reserved_cents,
    'COMPUTED (CENTS)': ({ example }) => example.computed_cents,
    CHANGES: ({ next }) => next?.from ?? '',
    DATE: ({ price }) => price.date,
    SOURCE: ({ price }) => price.source,
  });

const coverageText = ({ counts, ids }: Coverage): string =>
  [
    table(ids, {
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      MODEL: ({ id, model = '' }) => (model === id ? '' : model),
      PROVIDER: ({ provider = '' }) => provider,
      INPUT: ({ input = '' }) => input,
      PRICED: ({ priced }) => yesOrNo(priced),
      SIMULATED: ({ simulated }) => yesOrNo(simulated),
    }),
    ...ids.flatMap(({ id, ended, source = 'no source given', successor }) =>
      ended === undefined
        ? []
        : [`${id} ended on ${ended}${successor ? `, now ${successor}` : ''}: ${source}`],
    ),
    `${ids.length} ids: ${Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}.`,
    `${counts.known + counts.alias} known, ${counts.simulated} of them simulated; ${counts.ended} ended, see above; ${counts.missing} missing.`,
  ].join('\n');

const yesOrNo = (value: boolean | undefined): string => (value === undefined ? '' : value ? 'yes' : 'no');

const short = (revision: string): string => revision.slice(0, 12);

const processDocument = ({ app, host, pid, startedAt, revision, problem }: RunningProcess) => ({
  app,
  host,
  pid,
  started_at: startedAt,
  revision,
  problem,
});

function statusText(processes: readonly RunningProcess[], agreed: boolean): string {
  if (processes.length === 0) return 'No gateway or worker is running.';
  const problems = processes.flatMap(({ app, host, pid, problem }) =>
    problem === null ? [] : [`${app} ${host}/${pid}: ${problem}`],
  );
  return [
    table(processes, {
      App: ({ app }) => app,
      Process: ({ host, pid }) => `${host}/${pid}`,
      Revision: ({ revision }) => short(revision),
      'Last reload': ({ problem }) => (problem === null ? 'ok' : 'rejected'),
    }),
    ...(agreed ? [] : ['The processes use different revisions.']),
    ...problems,
  ].join('\n');
}

const problemDocument = ({ file, pointer, reason }: CatalogProblem) => ({ file, pointer, reason });

/** Formats a problem as `file#pointer: reason` on one line. A problem of the whole file has no pointer. */
export const problemLine = ({ file, pointer, reason }: CatalogProblem): string =>
  `${file}${pointer && `#${pointer}`}: ${reason.replaceAll(/\s+/g, ' ').trim()}`;
