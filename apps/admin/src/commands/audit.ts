import { type OperatorActionName, operatorActions, type OperatorActionView } from '#schemas';
import { Option } from 'commander';
import type { Answer } from '../answer.js';
import { everWorkspaces } from '../known-workspaces.js';
import { answering, type Services } from '../open-database.js';
import { instant, line } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';

interface AuditOptions {
  actor?: string;
  action?: OperatorActionName;
  subject?: string;
  workspace?: string;
  since?: Date;
  until?: Date;
  limit: number;
}

export const auditCommand: CommandSetup = (command, desk) => {
  command
    .option('--actor <text>', 'only actions of this person, key or host, or of one that contains this', line)
    .addOption(new Option('--action <action>', 'only this action').choices(operatorActions))
    .option(
      '--subject <name>',
      'only with this subject: a name, the id of a key or run, or a key’s prefix',
      line,
    )
    .option('--workspace <name>', 'only actions that concern this workspace, which may be deleted')
    .option('--since <time>', 'only actions at or after this time (ISO 8601)', instant)
    .option('--until <time>', 'only actions before this time (ISO 8601)', instant)
    .option('--limit <n>', 'maximum number of actions', wholeNumber(1, 10_000), 50)
    .action(answering(desk, audit));
};

async function audit(services: Services, { limit, ...filter }: AuditOptions): Promise<Answer> {
  if (filter.workspace !== undefined) await everWorkspaces(services, filter.workspace);
  return auditAnswer(await services.actions.page(filter, { limit }));
}

const auditAnswer = (actions: readonly OperatorActionView[]): Answer => ({
  document: { actions },
  text: table(actions, {
    AT: ({ at }) => at,
    ACTOR: ({ actor }) => actor,
    ACTION: ({ action }) => action,
    SUBJECT: ({ subject }) => subject,
    WORKSPACE: ({ workspace }) => workspace,
    DETAILS: ({ details }) => JSON.stringify(details),
  }),
});
