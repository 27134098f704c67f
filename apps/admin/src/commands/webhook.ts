import { deliveryView, type ListedWebhook, type Workspace, type WorkspaceRepository } from '#persistence';
import { webhookStates } from '#schemas';
import { Option } from 'commander';
import { actor } from '../actor.js';
import type { Answer } from '../answer.js';
import { answering } from '../open-database.js';
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
    .action(
      answering(desk, async ({ workspaces, webhooks }, { workspace, ...filter }: ListOptions) => {
        const only = workspace === undefined ? {} : { workspaceId: (await workspaces.find(workspace)).id };
        return listAnswer(await webhooks.list({ ...filter, ...only }));
      }),
    );

  webhook
    .command('redeliver')
    .description('Call once more, with eight tries from now on, whatever became of the webhook.')
    .argument('<request-id>', 'the run', requestId)
    .action(answering(desk, redeliver));

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
      .action(
        answering(desk, async ({ workspaces }, { workspace }: { workspace: string }) =>
          secretAnswer(await act(workspaces, workspace)),
        ),
      );
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

function listAnswer(found: readonly ListedWebhook[]): Answer {
  const webhooks = found.map((webhook) => ({ ...deliveryView(webhook), workspace: webhook.workspace }));
  return {
    document: { webhooks },
    text: table(webhooks, {
      REQUEST: ({ request_id }) => request_id,
      WORKSPACE: ({ workspace }) => workspace,
      MODEL: ({ model }) => model,
      STATE: ({ state }) => state,
      TRIES: ({ tries }) => tries,
      DUE: ({ next_try_at }) => next_try_at,
      PROBLEM: ({ problem }) => problem,
      URL: ({ url }) => url,
    }),
  };
}
