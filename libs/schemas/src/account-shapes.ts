import { z } from 'zod';
import { attributionFields, maxTags, routerTagName, routerTags } from './attribution.js';
import { cents, count, moment, pageOf, simulated, text } from './fields.js';
import { workspaceScopes } from './access-token.js';
import { routerErrorType, routerValidationErrorDetail } from './error-shapes.js';
import { routerModelId, routerQueueRequestId } from './identifiers.js';
import { routerQueueStatus, routerQueueUrls } from './queue-shapes.js';
import { oneLine } from './stored-text.js';
import { routerWebhookDelivery } from './webhook.js';

const keyId = () => z.uuid().describe('The id of the API key. Absent for access tokens.');

const costBasis = z.enum(['reported', 'computed', 'flat', 'own_key']);

/** The outcome of a completed run. */
export const routerRunOutcome = z.enum(['succeeded', 'failed', 'cancelled']);

/** A run in a list. Fields that do not apply, or are not known yet, are absent. */
const routerRequest = z
  .object({
    request_id: routerQueueRequestId,
    model: routerModelId,
    simulated: simulated.optional(),
    status: routerQueueStatus,
    outcome: routerRunOutcome.optional().describe('The outcome. Absent until the run is completed.'),
    error_type: routerErrorType.optional(),
    key_id: keyId().optional(),
    key_name: text('The name of the API key.').optional(),
    ...attributionFields,
    created_at: moment('When the run was admitted.'),
    granted_at: moment('When the run got its slot. Until then it waited in the backlog.').optional(),
    started_at: moment('When the run was sent to the provider.').optional(),
    output_at: moment(
      'When the provider had finished and the copying of the output’s assets began.',
    ).optional(),
    completed_at: moment('When the run got its outcome.').optional(),
    duration_ms: count('The time from admission to outcome, in milliseconds.').optional(),
    reserved_cents: cents('The amount that was reserved while the run was live'),
    cost_cents: cents('The billed amount').optional(),
    cost_basis: costBasis
      .optional()
      .describe(
        'The basis of the billed amount: reported by the provider, computed from the input, a flat price, or the workspace’s fee for a run with its own provider key. Absent if nothing was billed.',
      ),
    result_available: z
      .boolean()
      .describe('Whether the result or the error of the completed run can still be collected.'),
    kept: z
      .boolean()
      .optional()
      .describe('True if the workspace keeps the run’s input, result and files without expiry.'),
    shared: z.boolean().optional().describe('True if anyone with the link of the run may see it.'),
    expires_at: moment(
      'When the input, the result and the files of the completed run expire. Absent if they are kept or have expired.',
    ).optional(),
    ...routerQueueUrls.partial().shape,
  })
  .meta({ id: 'RouterRequest', description: 'A run. Its URLs are present until its result ages out.' });

/** Facts that are not in the audit record are absent once the result has aged out. */
export const routerRequestDetail = routerRequest
  .extend({
    error_detail: text('The error message for people.').optional(),
    error_fields: z
      .array(routerValidationErrorDetail)
      .optional()
      .describe('The fields that the model did not accept.'),
    attempts: count(
      'How often a worker took the run for submission. More than once if the provider was too busy to accept it, or if a worker stopped before the submission.',
    ).optional(),
    cancel_requested_at: moment('When cancellation was requested.').optional(),
    asset_count: count('The number of copied files of the output.').optional(),
    webhook: routerWebhookDelivery.optional(),
  })
  .meta({ id: 'RouterRequestDetail', description: 'Everything known about one run.' });

export const routerRequestListResponse = pageOf(routerRequest, 'At most `limit` runs, newest first.', {
  id: 'RouterRequestListResponse',
  description: 'One page of the runs of a workspace.',
});

/** How usage is grouped. */
export const usageGrouping = z.union(
  [z.enum(['day', 'model', 'key', 'user']), z.templateLiteral(['tag:', routerTagName])],
  'must be one or more of day, model, key, user and tag:<name>, separated by commas',
);
export type UsageGrouping = z.infer<typeof usageGrouping>;

export const usageNumbers = {
  runs: count('The number of runs that ended.'),
  succeeded: count('The number of these that succeeded.'),
  cost_cents: cents('The amount billed for them'),
};

export const routerUsageResponse = z
  .object({
    from: moment('Start of the range. Runs that ended at or after this time are included.'),
    to: moment('End of the range. Runs that ended before this time are included.'),
    group_by: z.array(usageGrouping).describe('The grouping of the runs.'),
    data: z
      .array(
        z.object({
          day: z.iso.date().optional().describe('The UTC day on which the runs ended.'),
          model: routerModelId.optional(),
          key_id: keyId().optional(),
          tags: routerTags
            .optional()
            .describe('The tag by which the runs are grouped. Absent for the runs without it.'),
          user: attributionFields.user.describe('The end user. Absent for the runs without one.'),
          ...usageNumbers,
        }),
      )
      .describe('The groups, ordered by the grouping.'),
    total: z.object(usageNumbers).describe('The totals over all groups.'),
  })
  .meta({ id: 'RouterUsageResponse', description: 'The usage of a workspace and its cost.' });

const signedCents = (description: string) =>
  z.number().describe(`${description}, in US dollar cents, as a decimal number.`);

const routerLedgerEntry = z
  .object({
    id: z.string().regex(/^\d+$/).describe('The id of the entry. A later entry has a higher one.'),
    kind: z
      .enum(['bill', 'refund', 'credits'])
      .describe(
        '`bill`: of a run. `refund`: of a bill. `credits`: credits that the operator added or took back.',
      ),
    created_at: moment('When the entry was made.'),
    amount_cents: signedCents('The change of the credits: negative for a bill'),
    balance_cents: signedCents('The credits after it').optional().meta({
      description:
        'The credits after it, in US dollar cents, as a decimal number. Absent if credits were unlimited.',
    }),
    request_id: routerQueueRequestId.optional(),
    model: routerModelId.optional(),
    cost_basis: costBasis.optional().describe('The basis of a bill, as in the list of runs.'),
    budgets: z
      .array(z.string())
      .optional()
      .describe('The budgets that counted the run, by name, without deleted ones. Absent if there are none.'),
    ...attributionFields,
  })
  .meta({
    id: 'RouterLedgerEntry',
    description: 'A change of the credits of a workspace. A bill or a refund has the facts of its run.',
  });

export const routerLedgerResponse = pageOf(routerLedgerEntry, 'At most `limit` entries, newest first.', {
  id: 'RouterLedgerResponse',
  description: 'One page of the ledger of a workspace.',
});

export const allowance = (description: string, amount: z.ZodNumber = z.int()) =>
  z.object({ limit: amount.min(0), current: amount.min(0) }).describe(description);

export const runAllowances = {
  inflight: allowance('The number of runs with a slot.'),
  committed_spend_cents: allowance('The maximum total cost of these runs, in US dollar cents.', z.number()),
  backlog: allowance('The number of runs that wait for a slot.'),
  runs_per_minute: allowance('The number of runs admitted in the current minute.'),
  overdraft_cents: allowance(
    'How far the balance is below zero, in US dollar cents, because runs cost more than they had reserved.',
    z.number(),
  ),
};

export const reservation = z
  .enum(['likely', 'bound'])
  .describe(
    'The amount that runs reserve. `likely`: for a text model without a limit on its answer, the likely cost. The run may cost more. `bound`: always the most that the run can cost.',
  );
export type Reservation = z.infer<typeof reservation>;

/** The terms say what a workspace allows and demands. */
export const workspaceTerms = {
  allow_samples: z
    .boolean()
    .describe(
      'Whether operators may show runs of the workspace to everyone as samples of their models, without its name.',
    ),
  allow_provider_tools: z
    .boolean()
    .describe(
      'Whether runs may use tools that run at the provider, such as web searches, which may have a fee and send text elsewhere.',
    ),
  required_tags: z
    .array(routerTagName)
    .max(maxTags)
    .describe('The names of the tags that each run must have. The tags of a key count.'),
  requires_user: z.boolean().describe('Whether each run must name an end user.'),
};

/** Absent fields stay unchanged. */
export const routerWorkspaceChange = z
  .strictObject(workspaceTerms)
  .partial()
  .meta({ id: 'RouterWorkspaceChange', description: 'A change of what a workspace allows and demands.' });

export const routerWorkspace = z
  .object({
    id: z.uuid().describe('The id of the workspace.'),
    name: text('The name of the workspace.'),
    limits: z.object(runAllowances).describe('The limits, and their current use.'),
    credits_cents: z
      .number()
      .nullable()
      .describe('The balance in US dollar cents. Null for unlimited credits.'),
    held_cents: cents('The part of the balance that is reserved for live runs'),
    markup: z.number().describe('The factor by which prices are multiplied. 1 means no markup.'),
    own_key_fee: z
      .number()
      .describe(
        'The factor by which prices are multiplied for runs with the workspace’s own provider keys. 0 means that they are free of charge here.',
      ),
    reservation,
    ...workspaceTerms,
    credential: z
      .object({
        key_id: keyId().optional(),
        scopes: z.array(z.string()).describe('The scopes of the credential.'),
      })
      .describe('The credential of this call.'),
  })
  .meta({ id: 'RouterWorkspace', description: 'The workspace of the caller.' });

export const keyName = oneLine(z.string().trim().min(1).max(200));

/** The body of a request for a new key. */
export const routerKeyInput = z
  .object({
    name: keyName.meta({ description: 'The name of the key, such as its purpose.', example: 'web app' }),
    scopes: z
      .array(z.enum(workspaceScopes))
      .min(1)
      .describe('The scopes of the key. They must be scopes of the credential of this call.'),
    expires_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('When the key expires. Without it, the key expires with the key that makes it, or never.'),
    tags: routerTags
      .optional()
      .describe('Tags that every run of the key gets. A call with another value of one of them is refused.'),
  })
  .meta({ id: 'RouterKeyInput', description: 'A request for a new API key.' });

export const routerKeyKind = z.enum(['key', 'code', 'session']);

const routerKey = z
  .object({
    id: z.uuid().describe('The id of the key.'),
    kind: routerKeyKind.describe(
      '`key`: an API key. `session`: the key of a browser that signed in with a link. `code`: the code of an unused link.',
    ),
    name: text('The name of the key.'),
    prefix: text('The first characters of the key.'),
    scopes: z.array(z.string()).describe('The scopes of the key.'),
    tags: routerTags
      .optional()
      .describe('The tags that every run of the key gets. Absent if there are none.'),
    state: z.enum(['live', 'revoked', 'expired']).describe('Whether the key works.'),
    made_by: z
      .uuid()
      .optional()
      .describe(
        'The key that made this one. This key ends with it. Absent if an operator or an access token made the key.',
      ),
    made_by_subject: text('The subject of the access token that made the key.').optional(),
    created_at: moment('When the key was made.'),
    expires_at: moment('When the key expires. Absent if it does not.').optional(),
    revoked_at: moment('When the key was revoked. Absent if it was not.').optional(),
    last_used_at: moment(
      'When the key was last used, to about a minute. Absent if it was not used.',
    ).optional(),
    rotated_to: z.uuid().optional().describe('The key that replaced this one. Absent if none did.'),
    first_id: z
      .uuid()
      .optional()
      .describe(
        'The first of the keys that were rotated to this one, under whose id budgets count them all. Absent if the key replaced none.',
      ),
  })
  .meta({ id: 'RouterKey', description: 'An API key, without its secret.' });

export const routerKeyListResponse = pageOf(
  routerKey,
  'At most `limit` keys, newest first, including revoked ones.',
  { id: 'RouterKeyListResponse', description: 'One page of the keys of a workspace.' },
);

export const routerNewKey = routerKey
  .extend({ key: text('The secret. It is shown only once and never stored.') })
  .meta({ id: 'RouterNewKey', description: 'A new API key, with its secret.' });

export const routerRotatedKey = routerNewKey
  .extend({ former_ends_at: moment('When the former key stops working.') })
  .meta({ id: 'RouterRotatedKey', description: 'The successor of an API key, with its secret.' });

export const routerSignInLink = z
  .object({
    url: z.url().describe('The URL that opens the console, signed in. It works once.'),
    code: text('The code in the fragment of the URL, which browsers do not send to servers.'),
    expires_at: moment('When the link expires.'),
    id: z.uuid().describe('The id of the code, and of the session that it opens, in the list of keys.'),
    scopes: z.array(z.string()).describe('The scopes of the session.'),
  })
  .meta({ id: 'RouterSignInLink', description: 'A link that signs a person in to the console.' });

const estimatedCents = {
  expected_cents: cents('The amount that is billed unless the provider reports the usage'),
  reserved_cents: cents('The amount that is reserved while the run is live'),
  max_cents: cents('The maximum that is billed'),
};

export const routerCostEstimate = z
  .object({
    ...estimatedCents,
    basis: z
      .enum(['flat', 'computed', 'reported', 'own_key'])
      .describe(
        '`flat`: independent of the input. `computed`: depends on the input. `reported`: the provider will report the usage. `own_key`: the workspace’s fee for a run with its own provider key.',
      ),
    next: z
      .object({ from: z.iso.date().describe('The first day (UTC) of the next price.'), ...estimatedCents })
      .optional()
      .describe('The cost after the next announced change of a price. Absent if none is announced.'),
  })
  .meta({ id: 'RouterCostEstimate', description: 'The cost of a run with this input for the workspace.' });

export type RouterSignInLink = z.infer<typeof routerSignInLink>;
export type RouterCostEstimate = z.infer<typeof routerCostEstimate>;
export type RouterRequest = z.infer<typeof routerRequest>;
export type RouterRequestDetail = z.infer<typeof routerRequestDetail>;
export type RouterUsageResponse = z.infer<typeof routerUsageResponse>;
export type RouterLedgerEntry = z.infer<typeof routerLedgerEntry>;
export type RouterWorkspace = z.infer<typeof routerWorkspace>;
export type RouterKey = z.infer<typeof routerKey>;
export type RouterNewKey = z.infer<typeof routerNewKey>;
export type RouterRotatedKey = z.infer<typeof routerRotatedKey>;
