import { UsageReader, type Workspace, type LedgerLine } from '#persistence';
import { actor } from '../actor.js';
import type { Answer } from '../answer.js';
import { centsFromMicros, centsText, mostCents } from '../money.js';
import { withWorkspaces } from '../open-database.js';
import { centsToMicros, line, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';

interface AddOptions {
  workspace: string;
  cents: number;
  note: string;
}

export const creditsCommands: CommandGroup = (program, desk) => {
  const credits = program.command('credits').description('Credits of workspaces.');

  credits
    .command('add')
    .description(
      'Add credits to a workspace, through its ledger; an unlimited workspace becomes a limited one.',
    )
    .requiredOption('--workspace <name>', 'its name or id')
    .requiredOption(
      '--cents <n>',
      'US cents; a negative number takes credits back',
      centsToMicros(-mostCents),
    )
    .option('--note <text>', 'text of the ledger entry', line, 'credits added')
    .action(async ({ workspace: name, cents: micros, note }: AddOptions) => {
      const { workspace } = await withWorkspaces(desk.env, (workspaces) =>
        workspaces.change(name, { addedMicros: micros, note }, actor()),
      );
      desk.answer({
        document: {
          workspace: workspace.name,
          added_cents: centsFromMicros(micros),
          credits_cents: centsFromMicros(workspace.balanceMicros ?? 0),
          note,
        },
        text: `${workspace.name} has ${centsText(workspace.balanceMicros)} cents of credits now.`,
      });
    });

  credits
    .command('list')
    .description('The last entries of a workspace’s ledger, newest first: credits added, runs billed.')
    .requiredOption('--workspace <name>', 'its name or id')
    .option('--limit <n>', 'most entries shown', wholeNumber(1, 10_000), 50)
    .action(async ({ workspace: name, limit }: { workspace: string; limit: number }) => {
      desk.answer(
        await withWorkspaces(desk.env, async (workspaces, database) => {
          const workspace = await workspaces.find(name);
          return ledgerAnswer(workspace, await new UsageReader(database).ledger(workspace.id, limit));
        }),
      );
    });
};

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
    text: table([
      ['AT', 'AMOUNT (CENTS)', 'BALANCE (CENTS)', 'RUN', 'BASIS', 'NOTE'],
      ...entries.map((entry) => [
        entry.at,
        centsText(entry.amountMicros),
        centsText(entry.balanceMicros),
        entry.runId ?? '-',
        entry.basis ?? '-',
        entry.note,
      ]),
    ]),
  };
}
