import { type UsageRange, type UsageRecord, usageView } from '#persistence';
import { centsFromMicros, centsText, type UsageGrouping } from '#schemas';
import { type Command, Option } from 'commander';
import { type Answer, clearLine, type Desk } from '../answer.js';
import { everWorkspaces, type NamedWorkspace } from '../known-workspaces.js';
import { answering, type Services, withServices } from '../open-database.js';
import { grouping, instant } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';
import { exportFormats, usageDocument } from '../usage-text.js';

interface RangeOptions {
  from?: Date;
  until?: Date;
}

interface ListOptions extends RangeOptions {
  workspace: string;
  limit: number;
}

interface SummaryOptions extends RangeOptions {
  workspace: string;
  by: UsageGrouping;
}

interface ExportOptions extends RangeOptions {
  workspace?: string;
  format: keyof typeof exportFormats;
}

/** Number of records held in memory, however long the export is. */
const pageRows = 1000;

export const usageCommands: CommandSetup = (usage, desk) => {
  withRange(
    usage
      .command('summary', { isDefault: true })
      .description(
        'Show the runs and the billed amount of a workspace in groups. This is the default command.',
      ),
  )
    .requiredOption('--workspace <name>', 'name or id of the workspace')
    .option('--by <group>', 'how to group the runs: day, model, key, user or tag:<name>', grouping, 'day')
    .action(answering(desk, summary));

  withRange(usage.command('list').description('List the last finished runs of a workspace, newest first.'))
    .requiredOption('--workspace <name>', 'name or id of the workspace')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 10_000), 50)
    .action(answering(desk, list));

  withRange(
    usage.command('export').description('Print all finished runs, workspace by workspace, oldest first.'),
  )
    .option('--workspace <name>', 'name or id of a single workspace (default: all)')
    .addOption(
      new Option('--format <format>', 'output format').choices(Object.keys(exportFormats)).default('csv'),
    )
    .action(async (options: ExportOptions, command: Command) => {
      if (command.optsWithGlobals<{ json?: true }>().json)
        command.error('error: an export is not a single JSON document; use --format jsonl');
      await withServices(desk.env, (services) => exportAll(services, options, desk));
    });
};

const withRange = (command: Command): Command =>
  command
    .option('--from <time>', 'only runs that ended at or after this time (ISO 8601)', instant)
    .option('--until <time>', 'only runs that ended before this time (ISO 8601)', instant);

const maxGroups = 10_000;

async function summary(services: Services, { workspace, by, from, until }: SummaryOptions): Promise<Answer> {
  const { id, name } = await onlyBilled(services, workspace);
  const groups = await services.usage.groups({ workspaceId: id, from, until }, [by], maxGroups);
  const { data, total } = usageView(groups);
  const keys = by === 'key' ? await services.keys.list({ workspaceId: id }, { limit: maxGroups }) : [];
  const named = new Map(keys.map((key) => [key.id, `${key.prefix} (${key.name})`]));
  return {
    document: { workspace: name, by, groups: data, total },
    text: table(data, {
      [by.toUpperCase()]: ({ day, model, key_id = '', tags = {}, user }) =>
        day ?? model ?? user ?? Object.values(tags)[0] ?? named.get(key_id) ?? (key_id || '-'),
      RUNS: ({ runs }) => runs,
      SUCCEEDED: ({ succeeded }) => succeeded,
      'BILLED (CENTS)': ({ cost_cents }) => cost_cents,
    }),
  };
}

/** Like `everWorkspaces`, but rejects several workspaces: their sum would be mistaken for the usage of one. */
async function onlyBilled(services: Services, nameOrId: string): Promise<NamedWorkspace> {
  const found = await everWorkspaces(services, nameOrId);
  if (found.length === 1) return found[0];
  const ids = found.map(({ id }) => id).join(' or ');
  throw new Error(
    `${found.length} deleted workspaces had the name "${nameOrId}". Use the id of one: ${ids}.`,
  );
}

async function list(services: Services, options: ListOptions): Promise<Answer> {
  const { id, name } = await onlyBilled(services, options.workspace);
  const range: UsageRange = { workspaceId: id, from: options.from, until: options.until };
  const [records, totals] = await Promise.all([
    services.usage.latest(range, options.limit),
    services.usage.totals(range),
  ]);
  const { runs, billedMicros } = totals;
  return {
    document: {
      workspace: name,
      runs,
      billed_cents: centsFromMicros(billedMicros),
      records: records.map(usageDocument),
    },
    text: [
      table(records, {
        COMPLETED: ({ completedAt }) => completedAt,
        RUN: ({ runId }) => runId,
        REQUEST: (record) => record.requestId,
        CREDENTIAL: ({ keyPrefix, credential }) => keyPrefix ?? credential,
        MODEL: ({ model }) => model,
        STATUS: ({ status }) => status,
        BUCKET: ({ bucket }) => bucket,
        MS: ({ latencyMs }) => latencyMs,
        COST: ({ costMicros }) => centsText(costMicros),
        BILLED: (record) => centsText(record.billedMicros),
        BASIS: ({ basis }) => basis,
        LEFT: ({ callerLeft }) => (callerLeft ? 'yes' : '-'),
      }),
      '',
      `${name}: ${runs} runs, billed ${centsText(billedMicros)} cents; ${records.length} shown.`,
    ].join('\n'),
  };
}

async function exportAll(
  services: Services,
  { workspace, from, until, format }: ExportOptions,
  desk: Desk,
): Promise<void> {
  desk.takesLong();
  const { workspaces, usage } = services;
  const { heading, line } = exportFormats[format];
  const chosen =
    workspace === undefined
      ? [...(await workspaces.list()), ...(await workspaces.deleted())]
      : await everWorkspaces(services, workspace);
  let exported = 0;
  if (heading !== '') await desk.print(heading);
  for (const { id } of chosen) {
    const range: UsageRange = { workspaceId: id, from, until };
    let last: UsageRecord | undefined;
    do {
      desk.status?.(`\r${exported} runs`);
      const records = await usage.page(range, pageRows, last);
      if (records.length > 0) await desk.print(records.map(line).join(''));
      exported += records.length;
      last = records.length < pageRows ? undefined : records.at(-1);
    } while (last !== undefined);
  }
  desk.status?.(clearLine);
}
