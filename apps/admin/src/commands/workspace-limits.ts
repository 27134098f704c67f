import type { Granted, Workspace, WorkspaceLimits } from '#persistence';
import { centsFromMicros, centsText } from '#schemas';
import { actor } from '../actor.js';
import type { Answer, Desk } from '../answer.js';
import type { Command } from 'commander';
import { withWorkspaces } from '../open-database.js';
import { centsToMicros, wholeNumber } from '../option-values.js';
import { table } from '../table.js';

export interface LimitOptions {
  inflight?: number;
  committedCents?: number;
  backlog?: number;
  window?: number;
  files?: number;
  fileBytes?: number;
}

/** 1 PiB. */
const maxFileBytes = 2 ** 50;

/** `workspace limits`: shows the allowances, and changes them for waiting runs too. */
export function workspaceLimitsCommand(workspace: Command, desk: Desk): void {
  withLimits(
    workspace
      .command('limits')
      .description('Show or change allowances; a change takes effect at once, on parked runs too.'),
  )
    .argument('<name>', 'its name or id')
    .action(async (name: string, options: LimitOptions) => {
      const limits = limitsOf(options);
      desk.answer(
        await withWorkspaces(desk.env, async (workspaces) =>
          Object.keys(limits).length === 0
            ? limitsAnswer(await workspaces.find(name))
            : changedAnswer(await workspaces.change(name, limits, actor())),
        ),
      );
    });
}

export const withLimits = (command: Command): Command =>
  command
    .option('--inflight <n>', 'runs in flight', wholeNumber(0))
    .option('--committed-cents <n>', 'spend committed to runs in flight, in US cents', centsToMicros())
    .option('--backlog <n>', 'parked runs', wholeNumber(0))
    .option('--window <n>', 'runs admitted per minute', wholeNumber(0))
    .option('--files <n>', 'uploaded files', wholeNumber(0))
    .option(
      '--file-bytes <n>',
      'size of the uploaded files together, in bytes',
      wholeNumber(0, maxFileBytes),
    );

export const limitsOf = ({
  inflight,
  committedCents,
  backlog,
  window,
  files,
  fileBytes,
}: LimitOptions): WorkspaceLimits => ({
  ...(inflight !== undefined && { inflightLimit: inflight }),
  ...(committedCents !== undefined && { committedLimitMicros: committedCents }),
  ...(backlog !== undefined && { backlogLimit: backlog }),
  ...(window !== undefined && { windowLimit: window }),
  ...(files !== undefined && { fileLimit: files }),
  ...(fileBytes !== undefined && { fileBytesLimit: fileBytes }),
});

/** The allowances with what is taken of them now. How much of this minute's window is used is not counted here. */
export function limitsAnswer(workspace: Workspace): Answer {
  const { inflight, inflightLimit, backlog, backlogLimit, committedMicros, committedLimitMicros } = workspace;
  return {
    document: {
      workspace: workspace.name,
      inflight: { limit: inflightLimit, current: inflight },
      committed_cents: {
        limit: centsFromMicros(committedLimitMicros),
        current: centsFromMicros(committedMicros),
      },
      backlog: { limit: backlogLimit, current: backlog },
      window: { limit: workspace.windowLimit },
      files: { limit: workspace.fileLimit },
      file_bytes: { limit: workspace.fileBytesLimit },
      credits_cents: {
        balance: workspace.balanceMicros === null ? null : centsFromMicros(workspace.balanceMicros),
        held: centsFromMicros(workspace.heldMicros),
      },
    },
    text: table([
      ['ALLOWANCE', 'LIMIT', 'NOW'],
      ['runs in flight', String(inflightLimit), String(inflight)],
      ['committed spend (cents)', centsText(committedLimitMicros), centsText(committedMicros)],
      ['parked runs', String(backlogLimit), String(backlog)],
      ['runs per minute', String(workspace.windowLimit), '-'],
      ['files', String(workspace.fileLimit), '-'],
      ['bytes of files', String(workspace.fileBytesLimit), '-'],
      ['credits (cents), and held', centsText(workspace.balanceMicros), centsText(workspace.heldMicros)],
    ]),
  };
}

function changedAnswer({ workspace, granted }: { workspace: Workspace; granted: Granted[] }): Answer {
  const { document, text } = limitsAnswer(workspace);
  const ids = granted.map(({ runId }) => runId);
  // This program has no transport: the workers' sweep, once a second, delivers what was granted here.
  const note =
    ids.length === 0
      ? []
      : [
          '',
          `${ids.length} parked run(s) were granted a slot; the workers deliver them within a second or two.`,
        ];
  return { document: { ...document, granted: ids }, text: [text, ...note].join('\n') };
}
