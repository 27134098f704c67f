import { deliveryView, type ListedWebhook, type Workspace } from '#persistence';
import { webhookStates } from '#schemas';
import { Option } from 'commander';
import type { Answer } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { requestId } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';
import { redeliver, runOrCall } from './run.js';

interface ListOptions {
  workspace?: string;
  state?: ListedWebhook['state'];
  limit: number;
}

export const webhookCommands: CommandSetup = (webhook, desk) => {
  webhook
    .command('list')
    .description('List webhooks, newest first.')
    .option('--workspace <name>', 'only webhooks of this workspace')
    .addOption(new Option('--state <state>', 'only webhooks in this state').choices(webhookStates))
    .option('--limit <n>', 'maximum number of webhooks', wholeNumber(1, 10_000), 100)
    .action(
      answering(desk, async ({ workspaces, webhooks }, { workspace, ...filter }: ListOptions) => {
        const only = workspace === undefined ? {} : { workspaceId: (await workspaces.find(workspace)).id };
        return listAnswer(await webhooks.list({ ...filter, ...only }));
      }),
    );

  webhook
    .command('redeliver')
    .description('Deliver the webhook of a run again, with eight new attempts, whatever its state.')
    .argument('<id>', runOrCall, requestId)
    .action(answering(desk, redeliver));

  const secret = webhook.command('secret').description('The secret that signs the webhooks of a workspace.');
  const secrets = (
    name: string,
    description: string,
    act: (services: Services, name: string) => Promise<Workspace>,
  ) =>
    secret
      .command(name)
      .description(description)
      .requiredOption('--workspace <name>', 'name or id of the workspace')
      .action(
        answering(desk, async (services, { workspace }: { workspace: string }) =>
          secretAnswer(await act(services, workspace)),
        ),
      );
  secrets('show', 'Show the secret.', ({ workspaces }, name) => workspaces.find(name));
  secrets(
    'rotate',
    'Create a new secret. For 24 hours, or until the next rotation, webhooks are also signed with the old secret.',
    async ({ workspaces, actor }, nameOrId) => {
      const { name } = await workspaces.find(nameOrId);
      await desk.confirm(`This replaces the secret that signs the webhooks of ${name}.`);
      return workspaces.rotateWebhookSecret(name, actor);
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
      ATTEMPTS: ({ tries }) => tries,
      DUE: ({ next_try_at }) => next_try_at,
      PROBLEM: ({ problem }) => problem,
      URL: ({ url }) => url,
    }),
  };
}
