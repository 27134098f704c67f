import {
  ApiKeyRepository,
  type Database,
  UsageReader,
  type UsageRange,
  type UsageRecord,
  type Workspace,
  type WorkspaceRepository,
} from '#persistence';
import { centsFromMicros, centsText, usageGroupings } from '#schemas';
import { type Command, Option } from 'commander';
import { type Answer, clearLine, type Desk } from '../answer.js';
import { withWorkspaces } from '../open-database.js';
import { instant, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
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
  by: (typeof usageGroupings)[number];
}

interface ExportOptions extends RangeOptions {
  workspace?: string;
  format: keyof typeof exportFormats;
}

/** Records that are held at once: an export of any length needs no more memory. */
const pageRows = 1000;

export const usageCommands: CommandGroup = (program, desk) => {
  const usage = program
    .command('usage')
    .description('What was used and what it cost, from the audit records.');

  withRange(
    usage
      .command('summary', { isDefault: true })
      .description('What a workspace used and was billed, in groups; "usage" alone means it.'),
  )
    .requiredOption('--workspace <name>', 'its name or id')
    .addOption(
      new Option('--by <group>', 'what the runs are grouped by').choices(usageGroupings).default('day'),
    )
    .action(async (options: SummaryOptions) => {
      desk.answer(
        await withWorkspaces(desk.env, (workspaces, database) => summary(workspaces, database, options)),
      );
    });

  withRange(usage.command('list').description('The last finished runs of a workspace, newest first.'))
    .requiredOption('--workspace <name>', 'its name or id')
    .option('--limit <n>', 'most runs shown', wholeNumber(1, 10_000), 50)
    .action(async (options: ListOptions) => {
      desk.answer(
        await withWorkspaces(desk.env, (workspaces, database) =>
          list(workspaces, new UsageReader(database), options),
        ),
      );
    });

  withRange(
    usage.command('export').description('Print every finished run, oldest first, workspace by workspace.'),
  )
    .option('--workspace <name>', 'name or id of the only workspace (default: all)')
    .addOption(
      new Option('--format <format>', 'form of the lines').choices(Object.keys(exportFormats)).default('csv'),
    )
    .action(async (options: ExportOptions, command: Command) => {
      if (command.optsWithGlobals<{ json?: true }>().json)
        command.error('error: an export is no single JSON document; use --format jsonl');
      await withWorkspaces(desk.env, (workspaces, database) =>
        exportAll(workspaces, new UsageReader(database), options, desk),
      );
    });
};

const withRange = (command: Command): Command =>
  command
    .option('--from <time>', 'runs that ended then or later; ISO 8601', instant)
    .option('--until <time>', 'runs that ended before then; ISO 8601', instant);

const maxGroups = 10_000;

async function summary(
  workspaces: WorkspaceRepository,
  database: Database,
  { workspace, by, from, until }: SummaryOptions,
): Promise<Answer> {
  const { id, name } = await onlyBilled(workspaces, workspace);
  const groups = await new UsageReader(database).groups({ workspaceId: id, from, until }, [by], maxGroups);
  const ofWorkspace = { workspaceId: id };
  const keys =
    by === 'key' ? await new ApiKeyRepository(database).list(ofWorkspace, { limit: maxGroups }) : [];
  const named = new Map(keys.map((key) => [key.id, `${key.prefix} (${key.name})`]));
  const rows = groups.map(({ day, model, keyId, runs, succeeded, billedMicros }) => ({
    [by === 'key' ? 'key_id' : by]: day ?? model ?? keyId ?? null,
    runs,
    succeeded,
    billed_cents: centsFromMicros(billedMicros),
  }));
  return {
    document: { workspace: name, by, groups: rows },
    text: table([
      [by.toUpperCase(), 'RUNS', 'SUCCEEDED', 'BILLED (CENTS)'],
      ...rows.map((each) =>
        Object.values(each).map((value) => named.get(String(value)) ?? String(value ?? '-')),
      ),
    ]),
  };
}

type Billed = Pick<Workspace, 'id' | 'name'>;

/** What a workspace used outlives it; several that were deleted may have had one name. */
async function billed(workspaces: WorkspaceRepository, nameOrId: string): Promise<[Billed, ...Billed[]]> {
  try {
    return [await workspaces.find(nameOrId)];
  } catch (error) {
    const [first, ...others] = await workspaces.deleted(nameOrId);
    if (first === undefined) throw error;
    return [first, ...others];
  }
}

/** Whose usage is added up. That of several is not: it would be taken for one's. */
async function onlyBilled(workspaces: WorkspaceRepository, nameOrId: string): Promise<Billed> {
  const found = await billed(workspaces, nameOrId);
  if (found.length === 1) return found[0];
  const ids = found.map(({ id }) => id).join(' or ');
  throw new Error(
    `${found.length} workspaces that were deleted had the name "${nameOrId}": name one by its id, ${ids}.`,
  );
}

async function list(
  workspaces: WorkspaceRepository,
  usage: UsageReader,
  options: ListOptions,
): Promise<Answer> {
  const { id, name } = await onlyBilled(workspaces, options.workspace);
  const range: UsageRange = { workspaceId: id, from: options.from, until: options.until };
  const [records, totals] = await Promise.all([usage.latest(range, options.limit), usage.totals(range)]);
  const { runs, billedMicros } = totals;
  return {
    document: {
      workspace: name,
      runs,
      billed_cents: centsFromMicros(billedMicros),
      records: records.map(usageDocument),
    },
    text: [
      table([
        [
          'COMPLETED',
          'RUN',
          'REQUEST',
          'CREDENTIAL',
          'MODEL',
          'STATUS',
          'BUCKET',
          'MS',
          'COST',
          'BILLED',
          'BASIS',
          'LEFT',
        ],
        ...records.map(row),
      ]),
      '',
      `${name}: ${runs} runs, billed ${centsText(billedMicros)} cents; ${records.length} shown.`,
    ].join('\n'),
  };
}

const row = (record: UsageRecord): string[] => [
  record.completedAt,
  record.runId,
  record.requestId,
  record.keyPrefix ?? record.credential,
  record.model,
  String(record.status),
  record.bucket ?? '-',
  String(record.latencyMs),
  centsText(record.costMicros),
  centsText(record.billedMicros),
  record.basis ?? '-',
  record.callerLeft ? 'yes' : '-',
];

async function exportAll(
  workspaces: WorkspaceRepository,
  usage: UsageReader,
  { workspace, from, until, format }: ExportOptions,
  desk: Desk,
): Promise<void> {
  desk.takesLong();
  const { heading, line } = exportFormats[format];
  const chosen =
    workspace === undefined
      ? [...(await workspaces.list()), ...(await workspaces.deleted())]
      : await billed(workspaces, workspace);
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
