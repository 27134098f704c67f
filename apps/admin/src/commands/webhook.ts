import {
  type ListedWebhook,
  WebhookRepository,
  type Workspace,
  type WorkspaceRepository,
} from '#persistence';
import { webhookStates } from '#schemas';
import { Option } from 'commander';
import { actor } from '../actor.js';
import type { Answer } from '../answer.js';
import { withWorkspaces } from '../open-database.js';
import { requestId, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { redeliver } from './run.js';

interface ListOptions {
  workspace?: string;
  state?: ListedWebhook['state'];
  limit: number;
}

export const webhookCommands: CommandGroup = (program, desk) => {
  const webhook = program
    .command('webhook')
    .description('Calls that tell callers that their runs are completed.');

  webhook
    .command('list')
    .description('List webhooks, the newest first.')
    .option('--workspace <name>', 'only those of a workspace')
    .addOption(new Option('--state <state>', 'only those in a state').choices(webhookStates))
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 100)
    .action(async ({ workspace, ...filter }: ListOptions) => {
      desk.answer(
        await withWorkspaces(desk.env, async (workspaces, database) => {
          const only = workspace === undefined ? {} : { workspaceId: (await workspaces.find(workspace)).id };
          return listAnswer(await new WebhookRepository(database).list({ ...filter, ...only }));
        }),
      );
    });

  webhook
    .command('redeliver')
    .description('Call once more, with eight tries from now on, whatever became of the webhook.')
    .argument('<request-id>', 'the run', requestId)
    .action(async (runId: string) => desk.answer(await redeliver(desk, runId)));

  const secret = webhook.command('secret').description('What the webhooks of a workspace are signed with.');
  const secrets = (
    name: string,
    description: string,
    act: (all: WorkspaceRepository, name: string) => Promise<Workspace>,
  ) =>
    secret
      .command(name)
      .description(description)
      .requiredOption('--workspace <name>', 'its name or id')
      .action(async ({ workspace }: { workspace: string }) => {
        desk.answer(await withWorkspaces(desk.env, async (all) => secretAnswer(await act(all, workspace))));
      });
  secrets('show', 'Show it.', (all, name) => all.find(name));
  secrets(
    'rotate',
    'Make a new one; the one before it signs as well for 24 hours, unless it is rotated again.',
    async (all, nameOrId) => {
      const { name } = await all.find(nameOrId);
      await desk.confirm(`This signs the webhooks of ${name} with a new secret.`);
      return all.rotateWebhookSecret(name, actor());
    },
  );
};

const secretAnswer = ({ name, webhookSecrets: [secret = ''] }: Workspace): Answer => ({
  document: { workspace: name, secret },
  text: secret,
});

const listAnswer = (webhooks: readonly ListedWebhook[]): Answer => ({
  document: {
    webhooks: webhooks.map(({ runId, workspace, model, url, state, tries, problem, completedAt, dueAt }) => ({
      request_id: runId,
      workspace,
      model,
      url,
      state,
      tries,
      problem,
      completed_at: completedAt,
      due_at: dueAt,
    })),
  },
  text: table([
    ['REQUEST', 'WORKSPACE', 'MODEL', 'STATE', 'TRIES', 'DUE', 'PROBLEM', 'URL'],
    ...webhooks.map(({ runId, workspace, model, url, state, tries, problem, dueAt }) => [
      runId,
      workspace,
      model,
      state,
      String(tries),
      dueAt?.toISOString() ?? '-',
      problem ?? '-',
      url,
    ]),
  ]),
});
