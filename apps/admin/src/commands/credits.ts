import { type LedgerLine, type Refund, refundRefusals, type Workspace } from '#persistence';
import { centsFromMicros, centsText } from '#schemas';
import type { Command } from 'commander';
import type { Answer } from '../answer.js';
import { answering } from '../open-database.js';
import { addedCentsToMicros, line, requestId } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';

interface NameOption {
  workspace?: string;
}

interface AddOptions extends NameOption {
  cents: number;
  note: string;
}

interface ListOptions extends NameOption {
  limit: number;
}

/** Keeps scripts working that pass the workspace as an argument. */
const formerly = 'the same as --workspace';

export const creditsCommands: CommandSetup = (credits, desk) => {
  credits
    .command('add')
    .description(
      'Add credits to a workspace, with a ledger entry. A workspace with unlimited credits becomes limited.',
    )
    .argument('[name]', formerly)
    .option('--workspace <name>', 'name or id of the workspace')
    .requiredOption('--cents <n>', 'US cents to add; a negative number removes credits', addedCentsToMicros)
    .option('--note <text>', 'text of the ledger entry', line, 'credits added')
    .action(
      answering(
        desk,
        async ({ workspaces, actor }, name: string | undefined, options: AddOptions, command: Command) => {
          const { cents: micros, note } = options;
          const change = { addedMicros: micros, note };
          const { workspace } = await workspaces.change(nameOf(name, options, command), change, actor);
          return {
            document: {
              workspace: workspace.name,
              added_cents: centsFromMicros(micros),
              credits_cents: centsFromMicros(workspace.balanceMicros ?? 0),
              note,
            },
            text: `${workspace.name} now has ${centsText(workspace.balanceMicros)} cents of credits.`,
          };
        },
      ),
    );

  credits
    .command('refund')
    .description(
      'Return what a run was billed to the credits of its workspace, with a ledger entry. A run is refunded at most once, and only after it has ended.',
    )
    .argument('<request-id>', 'id of the run', requestId)
    .option('--note <text>', 'text of the ledger entry', line, 'refund')
    .action(
      answering(desk, async ({ refunds, actor }, runId: string, { note }: { note: string }) => {
        const refund = await refunds.refund(runId, note, actor);
        if (refund.kind === 'refused') throw new Error(`${runId}: ${refundRefusals[refund.reason]}`);
        return refundAnswer(runId, refund, note);
      }),
    );

  credits
    .command('list')
    .description(
      'List the latest entries of a workspace’s ledger (credits added, runs billed or refunded), newest first.',
    )
    .argument('[name]', formerly)
    .option('--workspace <name>', 'name or id of the workspace')
    .option('--limit <n>', 'maximum number of entries', wholeNumber(1, 10_000), 50)
    .action(
      answering(
        desk,
        async ({ workspaces, usage }, name: string | undefined, options: ListOptions, command: Command) => {
          const workspace = await workspaces.find(nameOf(name, options, command));
          return ledgerAnswer(workspace, await usage.ledger(workspace.id, options.limit));
        },
      ),
    );
};

function refundAnswer(runId: string, refund: Refund, note: string): Answer {
  const { workspace, model, amountMicros, balanceMicros } = refund;
  const balance =
    balanceMicros === null ? 'unlimited credits' : `${centsText(balanceMicros)} cents of credits`;
  return {
    document: {
      request_id: runId,
      workspace,
      model,
      refunded_cents: centsFromMicros(amountMicros),
      credits_cents: balanceMicros === null ? null : centsFromMicros(balanceMicros),
      note,
    },
    text: `${centsText(amountMicros)} cents are returned to ${workspace}, which now has ${balance}.`,
  };
}

function nameOf(argument: string | undefined, { workspace }: NameOption, command: Command): string {
  if (workspace !== undefined && argument !== undefined && workspace !== argument)
    command.error(`error: two workspaces are named, "${argument}" and "${workspace}"; name only one`);
  return workspace ?? argument ?? command.error("error: required option '--workspace <name>' not specified");
}

function ledgerAnswer(workspace: Workspace, entries: readonly LedgerLine[]): Answer {
  const { name, balanceMicros } = workspace;
  return {
    document: {
      workspace: name,
      credits_cents: balanceMicros === null ? null : centsFromMicros(balanceMicros),
      entries: entries.map((entry) => ({
        id: entry.id,
        at: entry.at,
        run_id: entry.runId,
        amount_cents: centsFromMicros(entry.amountMicros),
        balance_cents: entry.balanceMicros === null ? null : centsFromMicros(entry.balanceMicros),
        basis: entry.basis,
        note: entry.note,
      })),
    },
    text: table(entries, {
      AT: ({ at }) => at,
      'AMOUNT (CENTS)': ({ amountMicros }) => centsText(amountMicros),
      'BALANCE (CENTS)': (entry) => centsText(entry.balanceMicros),
      RUN: ({ runId }) => runId,
      BASIS: ({ basis }) => basis,
      NOTE: ({ note }) => note,
    }),
  };
}
