import { UnknownWorkspace, type WorkspaceLimits, workspaceView } from '#persistence';
import {
  microsFromCents,
  openingCents,
  type OperatorWorkspace,
  type Reservation,
  reservation,
} from '#schemas';
import { type Command, Option } from 'commander';
import type { Answer } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import {
  centsToMicros,
  type Credits,
  creditsToMicros,
  factor,
  globs,
  resultSeconds,
  tagNames,
  workspaceName,
  yesOrNo,
} from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { aligned, table } from '../table.js';

/** 1 PiB. */
const maxFileBytes = 2 ** 50;
/** More workspaces than any installation has. */
const allWorkspaces = 1_000_000;

interface SettingOptions {
  enabled?: true;
  disabled?: true;
  visible?: string[];
  runnable?: string[];
  markup?: number;
  ownKeyFee?: number;
  reservation?: Reservation;
  requiredTags?: string[];
  requiresUser?: boolean;
  providerTools?: boolean;
  creditsCents?: Credits;
  resultSeconds?: number | 'default';
}

interface LimitOptions {
  inflight?: number;
  committedCents?: number;
  backlog?: number;
  window?: number;
  overdraftCents?: number;
  files?: number;
  fileBytes?: number;
}

export const workspaceCommands: CommandSetup = (workspace, desk) => {
  withLimits(
    withSettings(
      workspace
        .command('create')
        .description(
          `Create a workspace. By default it has limits of 20 runs in flight, 10,000 cents of committed spend and 600 runs per minute, and ${openingCents.toLocaleString('en')} cents of credits.`,
        ),
    ),
  )
    .argument('<name>', 'name of the workspace', workspaceName)
    .action(
      answering(desk, async (services, name: string, options: SettingOptions & LimitOptions) => {
        await checkGlobs(desk.env, options);
        return settingsAnswer(await create(services, name, options));
      }),
    );

  withSettings(workspace.command('set').description('Change a workspace.'))
    .argument('<name>', 'name or id of the workspace')
    .action(
      answering(desk, async (services, name: string, options: SettingOptions, command: Command) => {
        if (Object.keys(options).length === 0) command.error('error: name at least one option to change');
        await checkGlobs(desk.env, options);
        return settingsAnswer(await change(services, name, options));
      }),
    );

  workspace
    .command('show')
    .description('Show a workspace.')
    .argument('<name>', 'name or id of the workspace')
    .action(
      answering(desk, async (services, name: string) => {
        const document = await read(services, name);
        return { document, text: `${settingsText(document)}\n\n${limitsText(document)}` };
      }),
    );

  workspace
    .command('delete')
    .description(
      'Delete a workspace, its keys and its files. It must not have live runs. Ledger and audit records are kept.',
    )
    .argument('<name>', 'name or id of the workspace')
    .action(
      answering(desk, async ({ workspaces, actor }, nameOrId: string) => {
        const { id, name } = await workspaces.find(nameOrId);
        await desk.confirm(`This deletes the workspace ${name}, its keys and its files.`);
        if (!(await workspaces.delete(id, actor)))
          throw new Error(`${name} has live runs. Disable it, then cancel them or wait until they end.`);
        return { document: { deleted: name, id }, text: `${name} (${id}) is deleted.` };
      }),
    );

  workspace
    .command('list')
    .description('List all workspaces.')
    .action(
      answering(desk, async ({ workspaces }) =>
        listAnswer(await workspaces.states(undefined, { limit: allWorkspaces })),
      ),
    );

  withLimits(
    workspace
      .command('limits')
      .description(
        'Show or change the limits of a workspace. A change takes effect at once, also for parked runs.',
      ),
  )
    .argument('<name>', 'name or id of the workspace')
    .action(answering(desk, limits));
};

const withSettings = (command: Command): Command =>
  command
    .addOption(new Option('--enabled', 'enable the router for the workspace (default)').conflicts('disabled'))
    .addOption(
      new Option('--disabled', 'disable the router for the workspace; its calls get 403 not_enabled'),
    )
    .option(
      '--visible <globs>',
      'models that it may see, comma-separated; "" for none (default: "**")',
      globs,
    )
    .option(
      '--runnable <globs>',
      'models that it may run, comma-separated; "" for none (default: "**")',
      globs,
    )
    .option('--markup <factor>', 'factor applied to the cost of its runs (default: 1)', factor)
    .option(
      '--own-key-fee <factor>',
      'factor applied to the cost of runs with its own provider keys, such as 0.05 (default: 0)',
      factor,
    )
    .addOption(
      new Option(
        '--reservation <likely|bound>',
        'whether its runs reserve what they likely cost, or the most that they can cost (default: likely)',
      ).choices(reservation.options),
    )
    .option(
      '--required-tags <names>',
      'tags that each run must have, comma-separated; "" for none (default: none)',
      tagNames,
    )
    .option(
      '--provider-tools <yes|no>',
      'whether its runs may use tools that run at the provider, such as web searches (default: yes)',
      yesOrNo,
    )
    .option('--requires-user <yes|no>', 'whether each run must name an end user (default: no)', yesOrNo)
    .option('--credits-cents <n|unlimited>', 'its credits in US cents', creditsToMicros)
    .option(
      '--result-seconds <n|default>',
      'seconds until its results and assets are deleted, at least 60; RESULT_RETENTION_SECONDS is the most (default: that)',
      resultSeconds,
    );

const withLimits = (command: Command): Command =>
  command
    .option('--inflight <n>', 'runs in flight', wholeNumber(0))
    .option('--committed-cents <n>', 'spend committed to runs in flight, in US cents', centsToMicros())
    .option('--backlog <n>', 'parked runs', wholeNumber(0))
    .option('--window <n>', 'runs admitted per minute', wholeNumber(0))
    .option(
      '--overdraft-cents <n>',
      'how far its credits may fall below zero if runs cost more than they reserved, in US cents',
      centsToMicros(),
    )
    .option('--files <n>', 'uploaded files', wholeNumber(0))
    .option('--file-bytes <n>', 'total size of the uploaded files, in bytes', wholeNumber(0, maxFileBytes));

/** Loads the catalog only if globs are given, because that takes longer than everything else. */
async function checkGlobs(
  env: NodeJS.ProcessEnv,
  { visible = [], runnable = [] }: SettingOptions,
): Promise<void> {
  const globs = [...visible, ...runnable];
  if (globs.length > 0) await (await import('../known-models.js')).checkGlobs(env, globs);
}

const settingsOf = ({
  enabled,
  disabled,
  visible,
  runnable,
  markup,
  ownKeyFee,
  reservation: reserves,
  requiredTags,
  requiresUser,
  providerTools,
  resultSeconds: seconds,
}: SettingOptions) => ({
  ...((enabled ?? disabled) && { enabled: enabled === true }),
  ...(visible && { visible }),
  ...(runnable && { runnable }),
  ...(markup !== undefined && { markup }),
  ...(ownKeyFee !== undefined && { ownKeyFee }),
  ...(reserves && { reservation: reserves }),
  ...(requiredTags && { requiredTags }),
  ...(requiresUser !== undefined && { requiresUser }),
  ...(providerTools !== undefined && { allowProviderTools: providerTools }),
  ...(seconds !== undefined && { resultRetentionSeconds: seconds === 'default' ? null : seconds }),
});

const limitsOf = ({
  inflight,
  committedCents,
  backlog,
  window,
  overdraftCents,
  files,
  fileBytes,
}: LimitOptions): WorkspaceLimits => ({
  ...(inflight !== undefined && { inflightLimit: inflight }),
  ...(committedCents !== undefined && { committedLimitMicros: committedCents }),
  ...(backlog !== undefined && { backlogLimit: backlog }),
  ...(window !== undefined && { windowLimit: window }),
  ...(overdraftCents !== undefined && { overdraftLimitMicros: overdraftCents }),
  ...(files !== undefined && { fileLimit: files }),
  ...(fileBytes !== undefined && { fileBytesLimit: fileBytes }),
});

async function create(
  services: Services,
  name: string,
  options: SettingOptions & LimitOptions,
): Promise<OperatorWorkspace> {
  const { workspaces, actor } = services;
  const { creditsCents: credits = microsFromCents(openingCents) } = options;
  const settings = { ...settingsOf(options), ...limitsOf(options) };
  const { id } = await workspaces.open(name, settings, credits === 'unlimited' ? null : credits, actor);
  return read(services, id);
}

async function change(services: Services, name: string, options: SettingOptions): Promise<OperatorWorkspace> {
  const { creditsCents: credits } = options;
  const balance = credits !== undefined && { balanceMicros: credits === 'unlimited' ? null : credits };
  const { workspace } = await services.workspaces.change(
    name,
    { ...settingsOf(options), ...balance },
    services.actor,
  );
  return read(services, workspace.id);
}

/** Shows the limits, or changes them, which may grant slots to parked runs. */
async function limits(services: Services, name: string, options: LimitOptions): Promise<Answer> {
  const changes = limitsOf(options);
  if (Object.keys(changes).length === 0) {
    const document = await read(services, name);
    return { document, text: limitsText(document) };
  }
  const { workspace, granted } = await services.workspaces.change(name, changes, services.actor);
  const document = await read(services, workspace.id);
  // This program has no transport, so the workers' sweep, which runs once a second, delivers the granted
  // runs.
  const note = `\n\n${granted.length} parked run(s) were granted a slot. Workers take them within a second or two.`;
  return {
    document: { ...document, granted: granted.map(({ runId }) => runId) },
    text: `${limitsText(document)}${granted.length > 0 ? note : ''}`,
  };
}

async function read({ workspaces }: Services, nameOrId: string): Promise<OperatorWorkspace> {
  const state = await workspaces.state(nameOrId);
  if (state === null) throw new UnknownWorkspace(nameOrId);
  return workspaceView(state);
}

const settingsAnswer = (document: OperatorWorkspace): Answer => ({ document, text: settingsText(document) });

const settingsText = (workspace: OperatorWorkspace): string =>
  aligned([
    ['workspace', workspace.name],
    ['id', workspace.id],
    ['state', workspace.enabled ? 'enabled' : 'disabled'],
    ['visible', workspace.visible.join(',') || 'none'],
    ['runnable', workspace.runnable.join(',') || 'none'],
    ['markup', String(workspace.markup)],
    ['own keys', `fee of ${workspace.own_key_fee}`],
    ['reserves', workspace.reservation],
    ['runs need', demandsOf(workspace)],
    ['samples', workspace.allow_samples ? 'allowed' : 'not allowed'],
    ['tools', workspace.allow_provider_tools ? 'any' : 'only those that run at the caller'],
    ['results', keptText(workspace)],
    ['credits', `${creditsText(workspace)}${workspace.credits_cents === null ? '' : ' cents'}`],
  ]);

const demandsOf = ({ required_tags: tags, requires_user: user }: OperatorWorkspace): string =>
  [...tags.map((tag) => `the tag ${tag}`), ...(user ? ['an end user'] : [])].join(', ') || 'nothing';

const keptText = ({ result_retention_seconds: seconds }: OperatorWorkspace): string =>
  seconds === undefined ? 'kept as by default' : `kept for ${seconds} seconds`;

function limitsText({ limits: of, held_cents, ...workspace }: OperatorWorkspace): string {
  const rows: [string, { limit: number | string; current: number }][] = [
    ['runs in flight', of.inflight],
    ['committed spend (cents)', of.committed_spend_cents],
    ['parked runs', of.backlog],
    ['runs per minute', of.runs_per_minute],
    ['overdraft (cents)', of.overdraft_cents],
    ['files', of.files],
    ['bytes of files', of.file_bytes],
    ['credits (cents), held now', { limit: creditsText(workspace), current: held_cents }],
  ];
  return table(rows, {
    ALLOWANCE: ([name]) => name,
    LIMIT: ([, { limit }]) => limit,
    NOW: ([, { current }]) => current,
  });
}

function listAnswer(states: Parameters<typeof workspaceView>[0][]): Answer {
  const workspaces = states.map(workspaceView);
  return {
    document: { workspaces },
    text: table(workspaces, {
      NAME: ({ name }) => name,
      STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
      'CREDITS (CENTS)': creditsText,
      VISIBLE: ({ visible }) => visible.join(',') || '-',
      RUNNABLE: ({ runnable }) => runnable.join(',') || '-',
      ID: ({ id }) => id,
    }),
  };
}

const creditsText = ({ credits_cents }: Pick<OperatorWorkspace, 'credits_cents'>): string =>
  credits_cents === null ? 'unlimited' : String(credits_cents);
