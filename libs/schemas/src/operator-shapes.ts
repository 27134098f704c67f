import { z } from 'zod';
import { cents, count, moment, pageOf, text } from './fields.js';
import { allowance, runAllowances, usageNumbers } from './account-shapes.js';
import { routerErrorType } from './error-shapes.js';
import { routerModelId, routerProviderSegment, routerQueueRequestId } from './identifiers.js';
import { maxCents } from './money.js';
import { routerQueueStatus } from './queue-shapes.js';
import { oneLine, severalLines } from './stored-text.js';

const seconds = (description: string) => z.number().min(0).describe(description);
const globs = z.array(oneLine(z.string().min(1).max(200))).max(1000);
const facts = {
  enabled: z.boolean().describe('Whether the router is switched on for it.'),
  visible: globs.describe('Globs of the models that it may see.'),
  runnable: globs.describe('Globs of the models that it may run.'),
  markup: z.number().min(0).max(100).describe('What the price of a model is multiplied by.'),
};

export const operatorWorkspace = z
  .object({
    id: z.uuid().describe('Of the workspace.'),
    name: text('Of the workspace.'),
    created_at: moment('When it was made.'),
    ...facts,
    limits: z
      .object({
        ...runAllowances,
        files: allowance('Uploaded files.'),
        file_bytes: allowance('The size of these files together.'),
      })
      .describe('The allowances, and what of them is in use now.'),
    credits_cents: z.number().nullable().describe('The balance; null for unlimited credits.'),
    held_cents: cents('What live runs have set aside of the balance'),
    today: z.object(usageNumbers).describe('Since midnight UTC.'),
  })
  .meta({ id: 'OperatorWorkspace', description: 'A workspace, as an operator sees it.' });

export const operatorWorkspaceListResponse = pageOf(operatorWorkspace, 'In the order of their names.', {
  id: 'OperatorWorkspaceListResponse',
  description: 'One page of the workspaces.',
});

const limit = (description: string, max = 2_147_483_647) => z.int().min(0).max(max).describe(description);
const credits = z.int().min(-maxCents).max(maxCents);

/** The body of a change; what is left out stays as it is. */
export const operatorWorkspaceChange = z
  .strictObject({
    ...facts,
    limits: z
      .strictObject({
        inflight: limit('Runs that have a slot.'),
        committed_spend_cents: limit('What these runs can cost at most, in whole cents.', maxCents),
        backlog: limit('Runs that wait for a slot.'),
        runs_per_minute: limit('Runs that are admitted in a minute.'),
        files: limit('Uploaded files.'),
        file_bytes: limit('The size of these files together.', 2 ** 50),
      })
      .partial()
      .describe('New allowances; they hold at once, for waiting runs too.'),
    credits_cents: credits.nullable().describe('The new balance; null for unlimited credits.'),
    add_credits_cents: credits
      // To add none would still end unlimited credits.
      .refine((cents) => cents !== 0, 'must not be 0')
      .describe('Credits to add, or, negative, to take back.'),
    note: severalLines(z.string().trim().min(1).max(500)).describe('Why the credits change, for the ledger.'),
  })
  .partial()
  .refine(
    ({ credits_cents, add_credits_cents }) => credits_cents === undefined || add_credits_cents === undefined,
    'credits_cents and add_credits_cents exclude each other',
  )
  .meta({ id: 'OperatorWorkspaceChange', description: 'A change of a workspace.' });

const operatorPause = z
  .object({
    calls: z.enum(['submit', 'poll']).describe('Which calls are not made.'),
    asked_by: z
      .enum(['operator', 'provider'])
      .describe('A provider asks for it by its refusals; then it ends by itself.'),
    since: moment('Since when.'),
    until: moment('Until when; absent for an operator’s, which lasts until it is ended.').optional(),
    reason: text('Why.'),
  })
  .meta({ id: 'OperatorPause', description: 'Calls that are not made to a provider.' });

const waiting = (description: string) =>
  z
    .object({ runs: count('How many.'), oldest_seconds: seconds('How long ago the oldest was admitted.') })
    .describe(description);
const outcomes = z.object({
  requests: count('Runs that ended.'),
  succeeded: count('How many of them succeeded.'),
  errors: z.partialRecord(routerErrorType, z.int().min(0)).describe('How many ended otherwise, by bucket.'),
});

export const operatorProvider = z
  .object({
    provider: routerProviderSegment,
    models: z.array(routerModelId).describe('The models that it runs, by their ids.'),
    has_key: z
      .boolean()
      .nullable()
      .describe('Whether a worker has a key for it; null before a worker has reported.'),
    pauses: z.array(operatorPause).describe('Those that stand now.'),
    pressure: z
      .object({
        slots: z
          .object({ limit: z.int().min(0), in_use: z.int().min(0) })
          .describe('Submissions that the workers make at once.'),
        waiting: waiting('Runs that have a slot of their workspace and wait for one of the provider.'),
        under_way: waiting('Runs that were submitted and have no outcome.'),
        parked: waiting('Runs that wait for a slot of their own workspace.'),
      })
      .describe('What is asked of it now.'),
    last_hour: outcomes.describe('What ended in the last 60 minutes.'),
    last_day: outcomes.describe('What ended in the last 24 hours.'),
  })
  .meta({ id: 'OperatorProvider', description: 'A provider, as an operator sees it.' });

export const operatorProviderListResponse = z
  .object({
    data: z.array(operatorProvider).describe('All of them, in the order of their names.'),
  })
  .meta({ id: 'OperatorProviderListResponse', description: 'The providers.' });

export const operatorPauseInput = z
  .strictObject({
    reason: severalLines(z.string().trim().min(1).max(500)).describe('Why, for other operators.'),
  })
  .meta({ id: 'OperatorPauseInput', description: 'Why a provider is paused.' });

export const operatorQueues = z
  .object({
    transport: z.enum(['redis', 'postgres']).describe('What carries the jobs.'),
    queues: z
      .array(
        z.object({
          queue: z.enum(['dispatch', 'poll', 'assets', 'webhooks']),
          waiting: count('Jobs that a worker can take now.'),
          active: count('Jobs that a worker has.'),
          delayed: count('Jobs that are due later.'),
        }),
      )
      .describe(
        'By the transport, and missing while it is away; runs to be dispatched have no jobs and are counted by the database.',
      ),
    runs: z
      .array(
        z.object({
          state: z.enum(['parked', 'waiting', 'submitting', 'running', 'copying']),
          runs: count('How many live runs are in it.'),
          oldest_seconds: seconds('How long ago the oldest was admitted.'),
        }),
      )
      .describe('By the database: every live run is in one of them.'),
    processes: z
      .array(
        z.object({
          app: z.enum(['gateway', 'worker']),
          host: text('Its host or pod.'),
          pid: z.int(),
          started_at: moment('When it started.'),
          seen_at: moment('Its last sign of life; there is one every 30 seconds.'),
          catalog_revision: text('The catalog that it runs on.'),
          catalog_problem: text('Why it does not run on a newer one.').optional(),
        }),
      )
      .describe('The gateways and workers that run.'),
  })
  .meta({ id: 'OperatorQueues', description: 'What waits, and who works on it.' });

const operatorRun = z
  .object({
    request_id: routerQueueRequestId,
    workspace: z.object({ id: z.uuid(), name: z.string() }).describe('Whose it is.'),
    model: routerModelId,
    provider: routerProviderSegment,
    status: routerQueueStatus,
    stage: z
      .enum(['parked', 'ready', 'submitting', 'running', 'copying', 'completed'])
      .describe('Where it stands, in more detail than the status.'),
    reason: z
      .enum(['past_deadline', 'overdue', 'no_progress'])
      .optional()
      .describe(
        'Why it is thought to be stuck: over the time that it has, due and taken up by no worker, or for long in one stage.',
      ),
    error_type: routerErrorType.optional(),
    error_status: z.int().optional().describe('The status that the caller gets.'),
    created_at: moment('When it was admitted.'),
    granted_at: moment('When it got its slot.').optional(),
    started_at: moment('When it was sent to the provider.').optional(),
    output_at: moment('When the provider was done and assets were copied next.').optional(),
    completed_at: moment('When it had its outcome.').optional(),
  })
  .meta({ id: 'OperatorRun', description: 'A run that may need a look.' });

export const operatorRunListResponse = pageOf(
  operatorRun,
  'Stuck ones oldest first, failed ones newest first.',
  { id: 'OperatorRunListResponse', description: 'One page of runs that may need a look.' },
);

export type OperatorWorkspace = z.infer<typeof operatorWorkspace>;
export type OperatorProvider = z.infer<typeof operatorProvider>;
export type OperatorQueues = z.infer<typeof operatorQueues>;
export type OperatorRun = z.infer<typeof operatorRun>;
