import {
  type Database,
  type ListedRequest,
  OperatorReader,
  type OperatorRun,
  RequestReader,
  recordOperatorAction,
  retentionSettings,
  RunReader,
  RunRepository,
  WebhookRepository,
} from '#persistence';
import {
  centsFromMicros,
  centsText,
  readSettings,
  routerErrorType,
  routerQueueStatus,
  stagesOf,
  statusOf,
} from '#schemas';
import { Option } from 'commander';
import { actor } from '../actor.js';
import type { Answer, Desk } from '../answer.js';
import { knownModel } from '../known-models.js';
import { withWorkspaces } from '../open-database.js';
import { requestId, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';

interface ListOptions {
  workspace?: string;
  stuck?: true;
  failed?: true;
  hours: number;
  model?: string;
  status?: (typeof routerQueueStatus.options)[number];
  errorType?: (typeof routerErrorType.options)[number];
  limit: number;
}

export const runCommands: CommandGroup = (program, desk) => {
  const run = program.command('run').description('Runs of all workspaces: find, look, cancel.');

  run
    .command('list')
    .description(
      'List the runs of a workspace, newest first; or, of all workspaces, those that are stuck or failed.',
    )
    .option('--workspace <name>', 'runs of this workspace')
    .addOption(
      new Option('--stuck', 'live runs that do not come forward, oldest first').conflicts('workspace'),
    )
    .addOption(new Option('--failed', 'runs that failed lately').conflicts(['workspace', 'stuck']))
    .addOption(
      new Option('--hours <n>', 'with --failed: how long ago')
        .argParser(wholeNumber(1, 744))
        .default(24)
        .conflicts(['workspace', 'stuck']),
    )
    .addOption(
      new Option('--model <id>', 'with --workspace: only those of a model, by its id or an alias').conflicts([
        'stuck',
        'failed',
      ]),
    )
    .addOption(
      new Option('--status <status>', 'with --workspace: only those in a state')
        .choices(routerQueueStatus.options)
        .conflicts(['stuck', 'failed']),
    )
    .addOption(
      new Option('--error-type <type>', 'only those that ended so')
        .choices(routerErrorType.options)
        .conflicts('stuck'),
    )
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 50)
    .action(async (options: ListOptions) => desk.answer(await list(desk, options)));

  run
    .command('show')
    .description('Show a run: where it stands, when it got there, what it cost.')
    .argument('<request-id>', 'its id', requestId)
    .action(async (runId: string) => {
      desk.answer(
        await withWorkspaces(desk.env, async (_workspaces, database) => {
          const { workspace, workspaceId } = await find(database, runId);
          const found = await requests(database, desk).find(workspaceId, runId);
          if (!found) throw unknown(runId);
          const [webhook] = await new WebhookRepository(database).list({ runId, limit: 1 });
          return shownAnswer({ ...found, workspace, webhook: webhook?.state ?? null });
        }),
      );
    });

  run
    .command('cancel')
    .description(
      'Cancel a run: a waiting one ends now; of a submitted one the provider is told, if it can be.',
    )
    .argument('<request-id>', 'its id', requestId)
    .action(async (runId: string) => {
      desk.answer(
        await withWorkspaces(desk.env, async (_workspaces, database) => {
          const { workspace, workspaceId, model } = await find(database, runId);
          await desk.confirm(`This cancels the run ${runId} of ${workspace} (${model}).`);
          const reader = new RunReader(database, readSettings(retentionSettings, desk.env));
          const runs = new RunRepository(database, reader);
          const answer = await database.transaction(async (transaction) => {
            const found = await runs.requestCancel(workspaceId, model, runId, transaction);
            if (found === null || found === 'aged_out') throw unknown(runId);
            if (found.found === 'completed') throw new Error(`The run ${runId} is completed already.`);
            const action = { actor: actor(), action: 'run.cancel', subject: runId };
            await recordOperatorAction(transaction.manager, action);
            return found;
          });
          return {
            document: { request_id: runId, workspace, model, found: answer.found },
            text:
              answer.found === 'waiting'
                ? `${runId} is cancelled; it was not sent.`
                : `${runId} was sent already: its provider is told with the next poll, and it may still complete.`,
          };
        }),
      );
    });

  run
    .command('retry-delivery')
    .description('Call the webhook of a run once more, with eight tries from now on, whatever became of it.')
    .argument('<request-id>', 'the run', requestId)
    .action(async (runId: string) => desk.answer(await redeliver(desk, runId)));
};

/** As `webhook redeliver` does. */
export async function redeliver(desk: Desk, runId: string): Promise<Answer> {
  const isKnown = await withWorkspaces(desk.env, (_workspaces, database) =>
    database.transaction(async (transaction) => {
      const found = await new WebhookRepository(database).redeliver(runId, undefined, transaction);
      const action = { actor: actor(), action: 'webhook.redeliver', subject: runId };
      if (found) await recordOperatorAction(transaction.manager, action);
      return found;
    }),
  );
  if (!isKnown) throw new Error(`There is no webhook of the run ${runId}.`);
  return {
    document: { request_id: runId, state: 'pending' },
    text: `The webhook of ${runId} is due.`,
  };
}

const unknown = (runId: string) => new Error(`There is no run ${runId}, or its records have expired.`);

const requests = (database: Database, desk: Desk) =>
  new RequestReader(database, readSettings(retentionSettings, desk.env));

async function find(database: Database, runId: string) {
  const found = await new OperatorReader(database).find(runId);
  if (found === null) throw unknown(runId);
  return found;
}

async function list(desk: Desk, options: ListOptions): Promise<Answer> {
  const { workspace: name, stuck, failed, hours, limit, status, errorType: bucket } = options;
  if (name === undefined && !stuck && !failed)
    throw new Error('Say which runs: --workspace <name>, --stuck or --failed.');
  const model = options.model === undefined ? undefined : await knownModel(desk.env, options.model);
  return withWorkspaces(desk.env, async (workspaces, database) => {
    const reader = new OperatorReader(database);
    if (stuck) return operatorAnswer(await reader.stuck(600, { limit }));
    if (failed) return operatorAnswer(await reader.failed({ hours, bucket }, { limit }));
    const { id, name: workspace } = await workspaces.find(name ?? '');
    const filter = { model, bucket, stages: status && stagesOf(status) };
    const found = await requests(database, desk).page(id, filter, { limit });
    return {
      document: { runs: found.map((each) => document({ ...each, workspace })) },
      text: table([
        ['ADMITTED', 'RUN', 'MODEL', 'STATUS', 'ERROR', 'BILLED (CENTS)'],
        ...found.map((each) => [
          each.admittedAt.toISOString(),
          each.requestId,
          each.model,
          statusOf(each.stage),
          each.bucket ?? '-',
          each.billedMicros === null ? '-' : centsText(each.billedMicros),
        ]),
      ]),
    };
  });
}

const document = (run: ListedRequest & { workspace: string }) => ({
  request_id: run.requestId,
  workspace: run.workspace,
  model: run.model,
  status: statusOf(run.stage),
  stage: run.stage,
  error_type: run.bucket,
  key_id: run.keyId,
  created_at: run.admittedAt,
  granted_at: run.grantedAt,
  started_at: run.dispatchedAt,
  output_at: run.outputAt,
  completed_at: run.completedAt,
  reserved_cents: centsFromMicros(run.reservedMicros),
  cost_cents: run.billedMicros === null ? null : centsFromMicros(run.billedMicros),
  cost_basis: run.basis,
});

function shownAnswer(run: ListedRequest & { workspace: string; webhook: string | null }): Answer {
  const shown = { ...document(run), webhook: run.webhook };
  const lines = Object.entries(shown).map(([name, value]) => [
    name.replaceAll('_', ' '),
    value instanceof Date ? value.toISOString() : String(value ?? '-'),
  ]);
  return { document: shown, text: table(lines) };
}

const operatorAnswer = (runs: readonly OperatorRun[]): Answer => ({
  document: {
    runs: runs.map((run) => ({
      request_id: run.requestId,
      workspace: run.workspace,
      model: run.model,
      provider: run.provider,
      stage: run.stage,
      reason: run.reason,
      error_type: run.bucket,
      created_at: run.admittedAt,
      completed_at: run.completedAt,
    })),
  },
  text: table([
    ['ADMITTED', 'RUN', 'WORKSPACE', 'MODEL', 'STAGE', 'WHY'],
    ...runs.map((run) => [
      run.admittedAt.toISOString(),
      run.requestId,
      run.workspace,
      run.model,
      run.stage,
      run.reason ?? run.bucket ?? '-',
    ]),
  ]),
});
