import { z } from 'zod';
import { cents, count, moment, pageOf, text } from './fields.js';
import { workspaceScopes } from './access-token.js';
import { routerErrorType, routerValidationErrorDetail } from './error-shapes.js';
import { routerModelId, routerQueueRequestId } from './identifiers.js';
import { routerQueueStatus, routerQueueUrls } from './queue-shapes.js';
import { oneLine } from './stored-text.js';
import { routerWebhookDelivery } from './webhook.js';

const keyId = () => z.uuid().describe('The id of the API key; absent for access tokens.');

/** How a completed run ended. */
export const routerRunOutcome = z.enum(['succeeded', 'failed', 'cancelled']);

/** A run as it is listed. What does not apply, or is not known yet, is absent. */
const routerRequest = z
  .object({
    request_id: routerQueueRequestId,
    model: routerModelId,
    status: routerQueueStatus,
    outcome: routerRunOutcome.optional().describe('How it ended; absent while it has not.'),
    error_type: routerErrorType.optional(),
    key_id: keyId().optional(),
    key_name: text('What that key is for.').optional(),
    created_at: moment('When the run was admitted.'),
    granted_at: moment('When it got its slot; until then it waited in the backlog.').optional(),
    started_at: moment('When it was sent to the provider.').optional(),
    output_at: moment('When the provider was done and the assets of the output were copied next.').optional(),
    completed_at: moment('When it had its outcome.').optional(),
    duration_ms: count('From admission to outcome.').optional(),
    reserved_cents: cents('The most that the run could cost'),
    cost_cents: cents('What was billed').optional(),
    cost_basis: z
      .enum(['reported', 'computed', 'flat'])
      .optional()
      .describe('How the billed amount was found; absent for a run that was not billed.'),
    result_available: z
      .boolean()
      .describe('Whether the result, or the failure, of the completed run can be collected.'),
    ...routerQueueUrls.partial().shape,
  })
  .meta({ id: 'RouterRequest', description: 'One run; its URLs are there until its result ages out.' });

/** What the audit record does not hold is absent once the result has aged out. */
export const routerRequestDetail = routerRequest
  .extend({
    error_detail: text('What the failure says to people.').optional(),
    error_fields: z
      .array(routerValidationErrorDetail)
      .optional()
      .describe('The fields that the model did not accept.'),
    attempts: count(
      'How often the run was taken up for its submission: more than once when the provider was too busy to accept it, or a worker ended before the submission.',
    ).optional(),
    cancel_requested_at: moment('When its cancellation was requested.').optional(),
    asset_count: count('How many files of the output were copied.').optional(),
    webhook: routerWebhookDelivery.optional(),
  })
  .meta({ id: 'RouterRequestDetail', description: 'Everything that is known of one run.' });

export const routerRequestListResponse = pageOf(routerRequest, 'At most `limit` runs, newest first.', {
  id: 'RouterRequestListResponse',
  description: 'One page of the runs of a workspace.',
});

export const usageGroupings = ['day', 'model', 'key'] as const;

export const usageNumbers = {
  runs: count('How many runs ended.'),
  succeeded: count('How many of them succeeded.'),
  cost_cents: cents('What was billed for them'),
};

export const routerUsageResponse = z
  .object({
    from: moment('The runs that ended at this time or later …'),
    to: moment('… and before this one.'),
    group_by: z.array(z.enum(usageGroupings)).describe('What the runs are grouped by.'),
    data: z
      .array(
        z.object({
          day: z.iso.date().optional().describe('The day of UTC on which the runs ended.'),
          model: routerModelId.optional(),
          key_id: keyId().optional(),
          ...usageNumbers,
        }),
      )
      .describe('In the order of what they are grouped by.'),
    total: z.object(usageNumbers).describe('Over all groups.'),
  })
  .meta({ id: 'RouterUsageResponse', description: 'What a workspace used, and what it cost.' });

export const allowance = (description: string, amount: z.ZodNumber = z.int()) =>
  z.object({ limit: amount.min(0), current: amount.min(0) }).describe(description);

export const runAllowances = {
  inflight: allowance('Runs that have a slot.'),
  committed_spend_cents: allowance('What these runs can cost at most.', z.number()),
  backlog: allowance('Runs that wait for a slot.'),
  runs_per_minute: allowance('Runs that were admitted in this minute.'),
};

export const routerWorkspace = z
  .object({
    id: z.uuid().describe('Of the workspace.'),
    name: text('Of the workspace.'),
    limits: z.object(runAllowances).describe('The allowances, and what of them is in use now.'),
    credits_cents: z.number().nullable().describe('The balance; null for unlimited credits.'),
    held_cents: cents('What live runs have set aside of the balance'),
    markup: z.number().describe('What the price of a model is multiplied by.'),
    credential: z
      .object({
        key_id: keyId().optional(),
        scopes: z.array(z.string()).describe('What the credential of this call is good for.'),
      })
      .describe('The credential of this call.'),
  })
  .meta({ id: 'RouterWorkspace', description: 'The workspace of the caller.' });

const keyName = oneLine(z.string().trim().min(1).max(200));

/** The body of a new key. */
export const routerKeyInput = z
  .object({
    name: keyName.meta({ description: 'What it is for.', example: 'web app' }),
    scopes: z
      .array(z.enum(workspaceScopes))
      .min(1)
      .describe('What it is good for; nothing that the credential of this call is not good for.'),
    expires_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('When it stops working. Left out: when the key that makes it does, or never.'),
  })
  .meta({ id: 'RouterKeyInput', description: 'A key to be made.' });

export const routerKeyKind = z.enum(['key', 'code', 'session']);

const routerKey = z
  .object({
    id: z.uuid().describe('Names the key.'),
    kind: routerKeyKind.describe(
      '`session`: the key of a browser that was signed in by a link; `code`: the code of a link that was not used yet.',
    ),
    name: text('What it is for.'),
    prefix: text('How its text begins.'),
    scopes: z.array(z.string()).describe('What it is good for.'),
    state: z.enum(['live', 'revoked', 'expired']).describe('Whether it works.'),
    made_by: z
      .uuid()
      .optional()
      .describe(
        'The key that made it, and with which it ends; absent for a key that an operator or an access token made.',
      ),
    made_by_subject: text('The subject of the access token that made it.').optional(),
    created_at: moment('When it was made.'),
    expires_at: moment('When it stops working; absent for never.').optional(),
    revoked_at: moment('When it was revoked; absent for a key that was not.').optional(),
  })
  .meta({ id: 'RouterKey', description: 'An API key, without its text.' });

export const routerKeyListResponse = pageOf(
  routerKey,
  'At most `limit` keys, newest first, revoked ones included.',
  { id: 'RouterKeyListResponse', description: 'One page of the keys of a workspace.' },
);

export const routerNewKey = routerKey
  .extend({ key: text('Its text, shown this once and stored nowhere.') })
  .meta({ id: 'RouterNewKey', description: 'A new API key, with its text.' });

export const routerSignInLink = z
  .object({
    url: z.url().describe('Opens the console, signed in. Good once.'),
    code: text('The code in the URL’s fragment, which browsers send to no server.'),
    expires_at: moment('When it stops working.'),
    id: z.uuid().describe('Names the code, and the session that it opens, among the keys.'),
    scopes: z.array(z.string()).describe('What the session is good for.'),
  })
  .meta({ id: 'RouterSignInLink', description: 'A link that signs a person in to the console.' });

export const routerCostEstimate = z
  .object({
    expected_cents: cents('What is billed unless the model reports its own usage'),
    reserved_cents: cents('The most that is billed, which is reserved while the run lives'),
    basis: z
      .enum(['flat', 'computed', 'reported'])
      .describe(
        '`flat`: the input has no part in it; `computed`: from the input; `reported`: the reply will tell what was used.',
      ),
  })
  .meta({ id: 'RouterCostEstimate', description: 'What a run of this input would cost the workspace.' });

export type RouterSignInLink = z.infer<typeof routerSignInLink>;
export type RouterCostEstimate = z.infer<typeof routerCostEstimate>;
export type RouterRequest = z.infer<typeof routerRequest>;
export type RouterRequestDetail = z.infer<typeof routerRequestDetail>;
export type RouterUsageResponse = z.infer<typeof routerUsageResponse>;
export type RouterWorkspace = z.infer<typeof routerWorkspace>;
export type RouterKey = z.infer<typeof routerKey>;
export type RouterNewKey = z.infer<typeof routerNewKey>;
