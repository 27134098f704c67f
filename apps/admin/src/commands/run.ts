import {
  type ListedRequest,
  type OperatorRun,
  operatorRefusalView,
  operatorRunDetailView,
  operatorRunView,
  RefusedCallRepository,
  requestDetailView,
  requestView,
  recordAction,
  retentionSettings,
  RunReader,
  RunRepository,
} from '#persistence';
import { centsFromMicros, readSettings, routerErrorType, routerQueueStatus, stagesOf } from '#schemas';
import { Option } from 'commander';
import type { Answer, Desk } from '../answer.js';
import { attemptLines, webhookLines } from '../attempt-lines.js';
import { answering, type Services } from '../open-database.js';
import { requestId } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { aligned, table } from '../table.js';

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

/** The description of an id that names a run. */
export const runOrCall = 'id of the run, or of an HTTP call that admitted or joined it';

export const runCommands: CommandSetup = (run, desk) => {
  run
    .command('list')
    .description('List the runs of a workspace, newest first, or the stuck or failed runs of all workspaces.')
    .option('--workspace <name>', 'name or id of the workspace')
    .addOption(new Option('--stuck', 'live runs that make no progress, oldest first').conflicts('workspace'))
    .addOption(new Option('--failed', 'runs that failed recently').conflicts(['workspace', 'stuck']))
    .addOption(
      new Option('--hours <n>', 'with --failed: in the last n hours')
        .argParser(wholeNumber(1, 744))
        .default(24)
        .conflicts(['workspace', 'stuck']),
    )
    .addOption(
      new Option('--model <id>', 'with --workspace: only runs of this model (id or alias)').conflicts([
        'stuck',
        'failed',
      ]),
    )
    .addOption(
      new Option('--status <status>', 'with --workspace: only runs with this status')
        .choices(routerQueueStatus.options)
        .conflicts(['stuck', 'failed']),
    )
    .addOption(
      new Option('--error-type <type>', 'only runs that failed with this error type')
        .choices(routerErrorType.options)
        .conflicts('stuck'),
    )
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 10_000), 50)
    .action(answering(desk, (services, options: ListOptions) => list(services, options, desk.env)));

  run
    .command('show')
    .description(
      'Show a run: its state, times and cost, the provider calls that failed, and the attempts of its webhook. Or show why a call was refused.',
    )
    .argument('<id>', `${runOrCall}, or that was refused in the last day`, requestId)
    .action(answering(desk, show));

  run
    .command('cancel')
    .description(
      'Cancel a run. A waiting run ends now. For a submitted run the cancellation is sent to the provider, if it supports that.',
    )
    .argument('<id>', runOrCall, requestId)
    .action(answering(desk, (services, id: string) => cancel(services, id, desk)));

  run
    .command('retry-delivery')
    .description('Deliver the webhook of a run again, with eight new attempts, whatever its state.')
    .argument('<id>', runOrCall, requestId)
    .action(answering(desk, redeliver));
};

/** The action of `run retry-delivery` and `webhook redeliver`. */
export async function redeliver(
  { database, webhooks, operator, actor }: Services,
  id: string,
): Promise<Answer> {
  const run = await operator.find(id);
  const runId = run?.requestId ?? id;
  const details = run === null ? {} : { workspace: run.workspace };
  const isKnown = await database.transaction(async (transaction) => {
    const found = await webhooks.redeliver(runId, undefined, transaction);
    if (found)
      await recordAction(transaction.manager, {
        actor,
        action: 'webhook.redeliver',
        subject: runId,
        details,
      });
    return found;
  });
  if (!isKnown) throw new Error(`The run ${runId} has no webhook.`);
  return {
    document: { request_id: runId, state: 'pending' },
    text: `The webhook of ${runId} will be delivered again.`,
  };
}

async function cancel(services: Services, id: string, desk: Desk): Promise<Answer> {
  const { requestId: runId, workspace, workspaceId, model } = await find(services, id);
  await desk.confirm(`This cancels the run ${runId} of ${workspace} (${model}).`);
  const { database, actor } = services;
  const runs = new RunRepository(
    database,
    new RunReader(database, readSettings(retentionSettings, desk.env)),
  );
  const answer = await database.transaction(async (transaction) => {
    const found = await runs.requestCancel(workspaceId, model, runId, transaction);
    if (found === null || found === 'aged_out') throw unknown(runId);
    if (found.found === 'completed') throw new Error(`The run ${runId} is already completed.`);
    const details = { workspace };
    await recordAction(transaction.manager, { actor, action: 'run.cancel', subject: runId, details });
    return found;
  });
  return {
    document: { request_id: runId, workspace, model, found: answer.found },
    text:
      answer.found === 'waiting'
        ? `${runId} is cancelled. It was not submitted.`
        : `${runId} was already submitted. The cancellation is sent to its provider with the next poll, but the run may still complete.`,
  };
}

const unknown = (id: string) =>
  new Error(
    `There is no run ${id}, or its records have expired. A call that was refused made no run: after a day, only the gateways' log has its request_id.`,
  );

async function find({ operator }: Services, id: string) {
  const found = await operator.find(id);
  if (found === null) throw unknown(id);
  return found;
}

async function show(services: Services, runOrCallId: string): Promise<Answer> {
  const detail = await services.runDetails.find(runOrCallId);
  if (detail === null) return showRefusal(services, runOrCallId);
  const { requestId: runId, workspaceId: id } = detail;
  const found = await services.requests.find(id, runId);
  if (!found) throw unknown(runId);
  const refund = await services.refunds.find(id, runId);
  const operatorView = operatorRunDetailView(detail);
  const { webhook: delivery } = operatorView;
  const document = {
    ...requestDetailView(found),
    ...operatorView,
    ...(refund && {
      refunded_cents: centsFromMicros(refund.amountMicros),
      refunded_at: refund.at.toISOString(),
    }),
  };
  const { workspace, provider_attempts: attempts, provider_attempts_left_out: leftOut, ...facts } = document;
  const lines = Object.entries({ ...facts, workspace: workspace.name, webhook: delivery?.state ?? '-' });
  return {
    document,
    text: [
      aligned(
        lines.map(([fact, value]) => [
          fact.replaceAll('_', ' '),
          typeof value === 'object' ? JSON.stringify(value) : String(value),
        ]),
      ),
      ...(attempts.length === 0 ? [] : [attemptLines(attempts, leftOut)]),
      ...(delivery === undefined || delivery.attempts.length === 0 ? [] : [webhookLines(delivery)]),
    ].join('\n'),
  };
}

async function showRefusal({ database }: Services, callId: string): Promise<Answer> {
  const found = await new RefusedCallRepository(database).find(callId);
  if (found === null) throw unknown(callId);
  const refusal = operatorRefusalView(found);
  const { workspace, fields = [], ...facts } = refusal;
  const lines = Object.entries({
    ...facts,
    workspace: workspace.name,
    ...(fields.length > 0 && { fields: fields.map(({ name, type }) => `${name} (${type})`).join(', ') }),
  });
  return {
    document: { refusal },
    text: [
      'The call was refused and began no run.',
      aligned(lines.map(([fact, value]) => [fact.replaceAll('_', ' '), String(value)])),
    ].join('\n'),
  };
}

/** Loads the catalog only here, because that takes longer than everything else. */
const idOfModel = async (env: NodeJS.ProcessEnv, name: string): Promise<string> =>
  (await import('../known-models.js')).knownModel(env, name);

async function list(services: Services, options: ListOptions, env: NodeJS.ProcessEnv): Promise<Answer> {
  const { workspace, stuck, failed, hours, limit, status, errorType: bucket } = options;
  const { operator, workspaces, requests } = services;
  if (stuck) return operatorAnswer(await operator.stuck(600, { limit }));
  if (failed) return operatorAnswer(await operator.failed({ hours, bucket }, { limit }));
  if (workspace === undefined) throw new Error('Specify --workspace <name>, --stuck or --failed.');
  const model = options.model && (await idOfModel(env, options.model));
  const { id, name } = await workspaces.find(workspace);
  const filter = { model, bucket, stages: status && stagesOf(status) };
  return requestsAnswer(await requests.page(id, filter, { limit }), { id, name });
}

function requestsAnswer(found: readonly ListedRequest[], workspace: { id: string; name: string }): Answer {
  const runs = found.map((run) => ({ ...requestView(run), workspace, stage: run.stage }));
  return {
    document: { runs },
    text: table(runs, {
      ADMITTED: ({ created_at }) => created_at,
      RUN: ({ request_id }) => request_id,
      MODEL: ({ model }) => model,
      STATUS: ({ status }) => status,
      ERROR: ({ error_type }) => error_type,
      'BILLED (CENTS)': ({ cost_cents }) => cost_cents,
    }),
  };
}

function operatorAnswer(found: readonly OperatorRun[]): Answer {
  const runs = found.map(operatorRunView);
  return {
    document: { runs },
    text: table(runs, {
      ADMITTED: ({ created_at }) => created_at,
      RUN: ({ request_id }) => request_id,
      WORKSPACE: ({ workspace }) => workspace.name,
      MODEL: ({ model }) => model,
      STAGE: ({ stage }) => stage,
      WHY: ({ reason, error_type }) => reason ?? error_type,
    }),
  };
}
