import { z } from 'zod';
import { cents, count, moment, pageOf, simulated, text } from './fields.js';
import { allowance, reservation, runAllowances, usageNumbers, workspaceTerms } from './account-shapes.js';
import { routerErrorType } from './error-shapes.js';
import { routerModelId, routerProviderSegment, routerQueueRequestId } from './identifiers.js';
import { maxCents } from './money.js';
import { lastProviderCheck, operatorSurprise } from './provider-check-shapes.js';
import { routerQueueStatus } from './queue-shapes.js';
import { operatorRefusal } from './refusal-shapes.js';
import { oneLine, severalLines } from './stored-text.js';

const seconds = (description: string) => z.number().min(0).describe(description);
const globs = z.array(oneLine(z.string().min(1).max(200))).max(1000);
const facts = {
  enabled: z
    .boolean()
    .describe(
      'Whether the workspace is enabled. If not, its calls are rejected, but runs in progress finish.',
    ),
  visible: globs.describe('Globs of the models that the workspace may see.'),
  runnable: globs.describe('Globs of the models that the workspace may run.'),
  markup: z
    .number()
    .min(0)
    .max(100)
    .describe('The factor by which prices are multiplied. 1 means no markup.'),
  own_key_fee: z
    .number()
    .min(0)
    .max(100)
    .describe(
      'The factor by which prices are multiplied for runs with the workspace’s own provider keys. 0 means that they are free of charge.',
    ),
  reservation,
  ...workspaceTerms,
};

export const operatorWorkspace = z
  .object({
    id: z.uuid().describe('The id of the workspace.'),
    name: text('The name of the workspace.'),
    created_at: moment('When the workspace was created.'),
    ...facts,
    result_retention_seconds: z
      .int()
      .optional()
      .describe(
        'Seconds until the results and assets of the workspace are deleted, if it has a period of its own. The operator’s period for all workspaces is the most.',
      ),
    limits: z
      .object({
        ...runAllowances,
        files: allowance('The number of uploaded files.'),
        file_bytes: allowance('The total size of the uploaded files, in bytes.'),
      })
      .describe('The limits, and their current use.'),
    credits_cents: z
      .number()
      .nullable()
      .describe('The balance in US dollar cents. Null for unlimited credits.'),
    held_cents: cents('The part of the balance that is reserved for live runs'),
    today: z.object(usageNumbers).describe('The usage since midnight UTC.'),
  })
  .meta({ id: 'OperatorWorkspace', description: 'A workspace, for operators.' });

export const operatorWorkspaceListResponse = pageOf(
  operatorWorkspace,
  'At most `limit` workspaces, ordered by name.',
  {
    id: 'OperatorWorkspaceListResponse',
    description: 'One page of workspaces.',
  },
);

const limit = (description: string, max = 2_147_483_647) => z.int().min(0).max(max).describe(description);
const credits = z.int().min(-maxCents).max(maxCents);

/** Only the workspace itself allows samples. */
const { allow_samples: _allowSamples, ...changeable } = facts;

/** The body of a change. Absent fields stay unchanged. */
export const operatorWorkspaceChange = z
  .strictObject({
    ...changeable,
    limits: z
      .strictObject({
        inflight: limit('Maximum number of runs with a slot.'),
        committed_spend_cents: limit('Maximum total cost of these runs, in whole US dollar cents.', maxCents),
        backlog: limit('Maximum number of runs that wait for a slot.'),
        runs_per_minute: limit('Maximum number of runs admitted per minute.'),
        overdraft_cents: limit(
          'How far the balance may fall below zero because runs cost more than they reserved, in whole US dollar cents.',
          maxCents,
        ),
        files: limit('Maximum number of uploaded files.'),
        file_bytes: limit('Maximum total size of the uploaded files, in bytes.', 2 ** 50),
      })
      .partial()
      .describe('New limits. They take effect at once, also for waiting runs.'),
    credits_cents: credits
      .nullable()
      .describe('The new balance in whole US dollar cents. Null for unlimited credits.'),
    add_credits_cents: credits
      // Adding 0 would still end unlimited credits.
      .refine((cents) => cents !== 0, 'must not be 0')
      .describe('Credits to add in whole US dollar cents, or to take back if negative.'),
    note: severalLines(z.string().trim().min(1).max(500)).describe(
      'The reason for the change of credits, for the ledger.',
    ),
  })
  .partial()
  .refine(
    ({ credits_cents, add_credits_cents }) => credits_cents === undefined || add_credits_cents === undefined,
    'credits_cents and add_credits_cents cannot be combined',
  )
  .meta({ id: 'OperatorWorkspaceChange', description: 'A change of a workspace.' });

export const operatorPause = z
  .object({
    calls: z.enum(['submit', 'poll']).describe('The calls that are paused: submissions, or polls.'),
    asked_by: z
      .enum(['operator', 'provider'])
      .describe('Who paused the calls. A pause that the provider asked for ends by itself.'),
    actor: text(
      'Who paused the calls, as in the audit. Absent for a pause that the provider asked for, and once the record has expired.',
    ).optional(),
    since: moment('When the pause began.'),
    until: moment(
      'When the pause ends. Absent for an operator’s pause, which lasts until it is ended.',
    ).optional(),
    reason: text('The reason.'),
  })
  .meta({ id: 'OperatorPause', description: 'A pause of calls to a provider.' });

/** The conditions of a provider, and what each says. */
const providerHealthStates = {
  ready: 'Its runs succeed, or none ended lately.',
  key_rejected: 'It rejects our key.',
  no_balance: 'Our balance or quota there is used up.',
  throttled: 'It asks us to wait, or rejects many runs with 429.',
  failing: 'Many of its last runs or calls failed, through no fault of their callers.',
  paused: 'An operator paused it.',
  simulated: 'The simulator answers in its place.',
  no_key: 'No worker has a key for it.',
} as const;

const namesOf = <Name extends string>(meanings: Readonly<Record<Name, string>>) =>
  Object.keys(meanings) as [Name, ...Name[]];

/** The states of one key of several. */
const providerKeyStates = {
  ready: 'It submits runs, within its limits.',
  cooling: 'The provider asked not to be called with it for a while.',
  draining: 'Its weight is 0: it submits no run.',
  left: 'The provider rejected it. It returns when a check is accepted, or an operator restores it.',
} as const;

const operatorProviderKey = z
  .object({
    name: text('The name of the key.'),
    state: z.enum(namesOf(providerKeyStates)).describe(
      Object.entries(providerKeyStates)
        .map(([state, meaning]) => `\`${state}\`: ${meaning}`)
        .join(' '),
    ),
    weight: count('Its share of the submissions, relative to the other keys.'),
    concurrency: count('The maximum number of its runs in progress. Absent without a limit.').optional(),
    per_minute: count(
      'The maximum number of its submissions in a minute. Absent without a limit.',
    ).optional(),
    cools_until: moment('Until when the provider asked not to be called with it.').optional(),
    left_at: moment('When the provider rejected it.').optional(),
    left_for: z.enum(['key', 'balance', 'quota']).optional().describe('What the provider rejected.'),
  })
  .meta({ id: 'OperatorProviderKey', description: 'One key of a provider that has several.' });

const waiting = (description: string) =>
  z
    .object({
      runs: count('The number of runs.'),
      oldest_seconds: seconds('How long ago the oldest run was admitted, in seconds.'),
    })
    .describe(description);
const outcomes = z.object({
  requests: count('The number of runs that ended.'),
  succeeded: count('The number of these that succeeded.'),
  errors: z
    .partialRecord(routerErrorType, z.int().min(0))
    .describe('The number of the others, by error type.'),
});

export const operatorProvider = z
  .object({
    provider: routerProviderSegment,
    models: z.array(routerModelId).describe('The ids of the models that the provider serves.'),
    state: z
      .enum(namesOf(providerHealthStates))
      .nullable()
      .describe(
        `The condition that matters most. Null until a worker has reported. ${Object.entries(
          providerHealthStates,
        )
          .map(([state, meaning]) => `\`${state}\`: ${meaning}`)
          .join(' ')}`,
      ),
    recent: z
      .object({
        runs: count('The number of runs that count: the last 20 with a result in the last 15 minutes.'),
        failed: count('The number of these that failed, or whose last call failed.'),
        throttled: count('The number of these that the provider rejected as too many.'),
      })
      .describe('The last results of the provider’s runs, from which `state` is read.'),
    simulated: z.boolean().describe('Whether the simulator answers in place of the provider.'),
    has_key: z
      .boolean()
      .nullable()
      .describe('Whether a worker has a key for the provider. Null until a worker has reported.'),
    pauses: z.array(operatorPause).describe('The current pauses.'),
    keys: z
      .array(operatorProviderKey)
      .describe('The keys, by name. Empty if there is only one, without limits.'),
    check: lastProviderCheck.optional(),
    surprises: z
      .array(operatorSurprise)
      .describe(
        'Replies that the provider’s declaration does not expect, newest first, as long as results are kept.',
      ),
    pressure: z
      .object({
        slots: z
          .object({ limit: z.int().min(0), in_use: z.int().min(0) })
          .describe('Concurrent submissions: the maximum over all workers, and the current number.'),
        waiting: waiting('Runs that have a slot of their workspace and wait for a slot of the provider.'),
        under_way: waiting('Runs that were submitted and have no outcome yet.'),
        parked: waiting('Runs that wait for a slot of their own workspace.'),
      })
      .describe('The current load.'),
    last_hour: outcomes.describe('Runs that ended in the last 60 minutes.'),
    last_day: outcomes.describe('Runs that ended in the last 24 hours.'),
  })
  .meta({ id: 'OperatorProvider', description: 'A provider, for operators.' });

export const operatorProviderListResponse = z
  .object({
    data: z.array(operatorProvider).describe('All providers, ordered by name.'),
  })
  .meta({ id: 'OperatorProviderListResponse', description: 'All providers.' });

export const operatorPauseInput = z
  .strictObject({
    reason: severalLines(z.string().trim().min(1).max(500)).describe('The reason, for other operators.'),
  })
  .meta({ id: 'OperatorPauseInput', description: 'The reason for a pause.' });

export const operatorQueues = z
  .object({
    transport: z.enum(['redis', 'postgres']).describe('The transport of the jobs.'),
    queues: z
      .array(
        z.object({
          queue: z.enum(['dispatch', 'poll', 'assets', 'webhooks']),
          waiting: count('Jobs that a worker can take now.'),
          active: count('Jobs that a worker is processing.'),
          delayed: count('Jobs that become due later.'),
        }),
      )
      .describe(
        'The queues, as counted by the transport, and absent while it is down. Runs to be dispatched have no jobs and are counted by the database.',
      ),
    runs: z
      .array(
        z.object({
          state: z.enum(['parked', 'waiting', 'submitting', 'running', 'copying']),
          runs: count('The number of live runs in this state.'),
          oldest_seconds: seconds('How long ago the oldest run was admitted, in seconds.'),
        }),
      )
      .describe('All live runs by state, as counted by the database.'),
    processes: z
      .array(
        z.object({
          app: z.enum(['gateway', 'worker']),
          host: text('The host or pod of the process.'),
          pid: z.int(),
          started_at: moment('When the process started.'),
          seen_at: moment('The last heartbeat. There is one every 30 seconds.'),
          catalog_revision: text('The catalog revision in use.'),
          catalog_problem: text('Why a newer catalog was rejected.').optional(),
        }),
      )
      .describe('The running gateways and workers.'),
  })
  .meta({ id: 'OperatorQueues', description: 'Waiting work, and the processes that do it.' });

export const operatorRun = z
  .object({
    request_id: routerQueueRequestId,
    workspace: z.object({ id: z.uuid(), name: z.string() }).describe('The workspace of the run.'),
    model: routerModelId,
    provider: routerProviderSegment,
    simulated: simulated.optional(),
    status: routerQueueStatus,
    stage: z
      .enum(['parked', 'ready', 'submitting', 'running', 'copying', 'completed'])
      .describe('The stage of the run, in more detail than the status.'),
    reason: z
      .enum(['past_deadline', 'overdue', 'no_progress'])
      .optional()
      .describe(
        'Why the run is considered stuck: its time budget is exceeded, it is due but no worker takes it, or it has been in one stage for long.',
      ),
    error_type: routerErrorType.optional(),
    error_status: z.int().optional().describe('The HTTP status that the caller gets.'),
    created_at: moment('When the run was admitted.'),
    granted_at: moment('When the run got its slot.').optional(),
    started_at: moment('When the run was sent to the provider.').optional(),
    output_at: moment('When the provider had finished and the copying of assets began.').optional(),
    completed_at: moment('When the run got its outcome.').optional(),
  })
  .meta({ id: 'OperatorRun', description: 'A run that may need attention.' });

const operatorRunPage = {
  id: 'OperatorRunListResponse',
  description: 'One page of runs that may need attention.',
};

export const operatorRunListResponse = pageOf(
  operatorRun,
  'Stuck runs, oldest first, or failed runs, newest first.',
  operatorRunPage,
)
  .extend({
    refusal: operatorRefusal
      .optional()
      .describe('The refused call with the requested id, if no run has that id. Kept for a day.'),
  })
  .meta(operatorRunPage);

export type OperatorWorkspace = z.infer<typeof operatorWorkspace>;
export type ProviderHealthState = keyof typeof providerHealthStates;
export type OperatorProvider = z.infer<typeof operatorProvider>;
export type OperatorQueues = z.infer<typeof operatorQueues>;
export type OperatorRun = z.infer<typeof operatorRun>;
export type OperatorRunList = z.infer<typeof operatorRunListResponse>;
