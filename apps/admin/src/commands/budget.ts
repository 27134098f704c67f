import { type BudgetRefusal, budgetView } from '#persistence';
import {
  maxBudgets,
  type RouterBudget,
  type RouterBudgetInput,
  routerBudgetInput,
  routerBudgetName,
} from '#schemas';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Answer } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { httpUrl, instant, line } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

interface SetOptions {
  workspace: string;
  scope: string;
  value?: string;
  window: string;
  timeZone: string;
  cents: number;
  soft?: true;
  webhookUrl?: string;
}

interface RaiseOptions {
  workspace: string;
  cents: number;
  from?: Date;
  until: Date;
}

const refusals = {
  time_zone: 'The time zone is unknown.',
  key: 'The workspace has no key with this id.',
  too_many: `The workspace has ${maxBudgets} budgets, which is the maximum. Delete one first.`,
} satisfies Record<BudgetRefusal, string>;

const ofWorkspace = ['--workspace <name>', 'name or id of the workspace'] as const;
const someCents = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export const budgetCommands: CommandSetup = (budget, desk) => {
  budget
    .command('set')
    .description(
      'Create or replace a budget. It applies to the next run, and counts runs that are admitted from now on. Its raises stay.',
    )
    .argument('<name>', 'name of the budget', budgetName)
    .requiredOption(...ofWorkspace)
    .option('--scope <scope>', 'workspace, key, user, model or tag:<name>', line, 'workspace')
    .option(
      '--value <text>',
      'id of a key, end user, value of the tag, or glob over model ids (default: each value has the limit for itself)',
    )
    .addOption(
      new Option('--window <window>', 'when it starts anew')
        .choices(['day', 'week', 'month', 'total'])
        .makeOptionMandatory(),
    )
    .option('--time-zone <zone>', 'time zone in which days begin', line, 'UTC')
    .requiredOption('--cents <n>', 'limit of a window in US cents', someCents)
    .option('--soft', 'only notify (default: refuse runs that do not fit)')
    .option('--webhook-url <url>', 'URL to call when 50, 80 and 100 percent are spent', httpUrl)
    .action(answering(desk, set));

  budget
    .command('raise')
    .description('Raise the limit of a budget for a while. Raises must not overlap.')
    .argument('<name>', 'name of the budget', budgetName)
    .requiredOption(...ofWorkspace)
    .requiredOption('--cents <n>', 'US cents to add to the limit', someCents)
    .option('--from <time>', 'when the raise begins (default: now)', instant)
    .requiredOption('--until <time>', 'when it ends', instant)
    .action(answering(desk, raise));

  budget
    .command('list')
    .description('List the budgets of a workspace, with what their present windows have used.')
    .requiredOption(...ofWorkspace)
    .action(
      answering(desk, async ({ workspaces, budgets }, { workspace }: { workspace: string }) => {
        const { id } = await workspaces.find(workspace);
        return answerOf((await budgets.list(id)).map(budgetView));
      }),
    );

  budget
    .command('delete')
    .description('Delete a budget. It no longer counts or refuses runs.')
    .argument('<name>', 'name of the budget', budgetName)
    .requiredOption(...ofWorkspace)
    .action(
      answering(desk, async (services: Services, name: string, { workspace }: { workspace: string }) => {
        const { id } = await services.workspaces.find(workspace);
        if (!(await services.budgets.delete(id, name, services.actor)))
          throw await unknown(services, id, name);
        return { document: { deleted: name }, text: `The budget ${name} is deleted.` };
      }),
    );
};

async function set(services: Services, name: string, options: SetOptions, command: Command): Promise<Answer> {
  const { id } = await services.workspaces.find(options.workspace);
  const [old] = await services.budgets.list(id, name);
  const input = routerBudgetInput.safeParse({
    scope: options.scope,
    value: options.value,
    window: options.window,
    time_zone: options.timeZone,
    limit_cents: options.cents,
    kind: options.soft ? 'soft' : 'hard',
    webhook_url: options.webhookUrl,
    raises: old ? budgetView(old).raises : [],
  });
  if (!input.success) {
    const [issue] = input.error.issues;
    command.error(`error: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  return write(services, id, name, input.data);
}

async function raise(
  services: Services,
  name: string,
  { workspace, cents, from = new Date(), until }: RaiseOptions,
  command: Command,
): Promise<Answer> {
  const { id } = await services.workspaces.find(workspace);
  const [old] = await services.budgets.list(id, name);
  if (!old) throw await unknown(services, id, name);
  const { name: _name, current: _current, ...rest } = budgetView(old);
  const added = { amount_cents: cents, from: from.toISOString(), until: until.toISOString() };
  const input = routerBudgetInput.safeParse({ ...rest, raises: [...rest.raises, added] });
  if (!input.success) command.error(`error: raises ${input.error.issues[0]?.message}`);
  return write(services, id, name, input.data);
}

async function write(
  { budgets, actor }: Services,
  workspaceId: string,
  name: string,
  input: RouterBudgetInput,
): Promise<Answer> {
  const done = await budgets.set(workspaceId, name, input, actor);
  if ('refused' in done) throw new Error(refusals[done.refused]);
  return answerOf((await budgets.list(workspaceId, name)).map(budgetView));
}

const answerOf = (budgets: RouterBudget[]): Answer => ({
  document: { budgets },
  text: table(budgets, {
    NAME: ({ name }) => name,
    COUNTS: ({ scope, value }) =>
      scope === 'workspace' ? 'all runs' : `${scope} ${value === undefined ? '(each)' : `"${value}"`}`,
    WINDOW: ({ window, time_zone }) => (window === 'total' ? window : `${window} ${time_zone}`),
    KIND: ({ kind }) => kind,
    'LIMIT (CENTS)': ({ current }) => current.limit_cents,
    SPENT: ({ current }) => current.spent_cents,
    RESERVED: ({ current }) => current.reserved_cents,
    RESETS: ({ current }) => current.resets_at ?? 'never',
  }),
});

const unknown = async ({ budgets }: Services, workspaceId: string, name: string): Promise<Error> =>
  unknownName(
    'budget',
    name,
    (await budgets.list(workspaceId)).map((each) => each.name),
  );

function budgetName(text: string): string {
  const [issue] = routerBudgetName.safeParse(text).error?.issues ?? [];
  if (issue) throw new InvalidArgumentError(`It ${issue.message}.`);
  return text;
}
