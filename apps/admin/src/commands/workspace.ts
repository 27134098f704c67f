import type { WorkspaceRepository } from '#persistence';
import { centsText, microsFromCents } from '#schemas';
import { type Command, Option } from 'commander';
import { actor } from '../actor.js';
import type { Answer } from '../answer.js';
import { checkGlobs } from '../known-models.js';
import { withWorkspaces } from '../open-database.js';
import { type Credits, creditsToMicros, factor, globs, workspaceName } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { workspaceAnswer, workspaceDocument } from '../workspace-answer.js';
import {
  type LimitOptions,
  limitsAnswer,
  limitsOf,
  withLimits,
  workspaceLimitsCommand,
} from './workspace-limits.js';

/** What a new workspace can spend before anybody says more. */
const openingCents = 10_000;

interface SettingOptions {
  enabled?: true;
  disabled?: true;
  visible?: string[];
  runnable?: string[];
  markup?: number;
  creditsCents?: Credits;
}

export const workspaceCommands: CommandGroup = (program, desk) => {
  const workspace = program
    .command('workspace')
    .description('Workspaces, what they may run, and their limits.');

  withLimits(
    withSettings(
      workspace
        .command('create')
        .description(
          `Create a workspace. It starts with limits: 5 runs in flight, 10,000 cents committed, 600 runs per minute, and ${openingCents.toLocaleString('en')} cents of credits unless more is said.`,
        ),
    ),
  )
    .argument('<name>', 'its name', workspaceName)
    .action(async (name: string, options: SettingOptions & LimitOptions) => {
      await checkGlobs(desk.env, globsOf(options));
      desk.answer(await withWorkspaces(desk.env, (workspaces) => create(workspaces, name, options)));
    });

  withSettings(workspace.command('set').description('Change a workspace.'))
    .argument('<name>', 'its name or id')
    .action(async (name: string, options: SettingOptions, command: Command) => {
      if (Object.keys(options).length === 0) command.error('error: name at least one option to change');
      await checkGlobs(desk.env, globsOf(options));
      desk.answer(await withWorkspaces(desk.env, (workspaces) => change(workspaces, name, options)));
    });

  workspace
    .command('show')
    .description('Show a workspace.')
    .argument('<name>', 'its name or id')
    .action(async (name: string) => {
      desk.answer(
        await withWorkspaces(desk.env, async (workspaces) => {
          const found = await workspaces.find(name);
          const { text, document } = workspaceAnswer(found);
          const limits = limitsAnswer(found);
          return { document: { ...document, limits: limits.document }, text: `${text}\n\n${limits.text}` };
        }),
      );
    });

  workspace
    .command('delete')
    .description(
      'Delete a workspace without live runs, with its keys and files. Ledger and audit records stay.',
    )
    .argument('<name>', 'its name or id')
    .action(async (name: string) => {
      desk.answer(
        await withWorkspaces(desk.env, async (workspaces) => {
          const found = await workspaces.find(name);
          await desk.confirm(`This deletes the workspace ${found.name}, with its keys and files.`);
          if (!(await workspaces.delete(found.id, actor())))
            throw new Error(
              `${found.name} has live runs: disable it, and cancel them or wait for their end.`,
            );
          return {
            document: { deleted: found.name, id: found.id },
            text: `${found.name} (${found.id}) is deleted.`,
          };
        }),
      );
    });

  workspace
    .command('list')
    .description('List all workspaces.')
    .action(async () => {
      desk.answer(await withWorkspaces(desk.env, list));
    });

  workspaceLimitsCommand(workspace, desk);
};

const withSettings = (command: Command): Command =>
  command
    .addOption(new Option('--enabled', 'switch the router on for it (the default)').conflicts('disabled'))
    .addOption(new Option('--disabled', 'switch the router off for it: its calls answer 403 not_enabled'))
    .option('--visible <globs>', 'models it may see, comma-separated; "" for none (default: "**")', globs)
    .option('--runnable <globs>', 'models it may run, comma-separated; "" for none (default: "**")', globs)
    .option('--markup <factor>', 'what its runs cost is multiplied by (default: 1)', factor)
    .option('--credits-cents <n|unlimited>', 'its credits in US cents', creditsToMicros);

const globsOf = ({ visible = [], runnable = [] }: SettingOptions): string[] => [...visible, ...runnable];

const settingsOf = ({ enabled, disabled, visible, runnable, markup }: SettingOptions) => ({
  ...((enabled ?? disabled) && { enabled: enabled === true }),
  ...(visible && { visible }),
  ...(runnable && { runnable }),
  ...(markup !== undefined && { markup }),
});

async function create(
  workspaces: WorkspaceRepository,
  name: string,
  options: SettingOptions & LimitOptions,
): Promise<Answer> {
  if ((await workspaces.list()).some((workspace) => workspace.name === name))
    throw new Error(`There is already a workspace "${name}".`);
  const { creditsCents: credits = microsFromCents(openingCents) } = options;
  const settings = { ...settingsOf(options), ...limitsOf(options) };
  return workspaceAnswer(
    await workspaces.open(name, settings, credits === 'unlimited' ? null : credits, actor()),
  );
}

async function change(
  workspaces: WorkspaceRepository,
  name: string,
  options: SettingOptions,
): Promise<Answer> {
  const { creditsCents: credits } = options;
  const { workspace } = await workspaces.change(
    name,
    {
      ...settingsOf(options),
      ...(credits !== undefined && { balanceMicros: credits === 'unlimited' ? null : credits }),
    },
    actor(),
  );
  return workspaceAnswer(workspace);
}

async function list(workspaces: WorkspaceRepository): Promise<Answer> {
  const found = await workspaces.list();
  const rows = found.map((workspace) => [
    workspace.name,
    workspace.enabled ? 'enabled' : 'disabled',
    centsText(workspace.balanceMicros),
    workspace.visible.join(',') || '-',
    workspace.runnable.join(',') || '-',
    workspace.id,
  ]);
  return {
    document: { workspaces: found.map(workspaceDocument) },
    text: table([['NAME', 'STATE', 'CREDITS (CENTS)', 'VISIBLE', 'RUNNABLE', 'ID'], ...rows]),
  };
}
