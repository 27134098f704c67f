import { z } from 'zod';
import { attributionFields } from './attribution.js';
import { count, moment, pageOf, text } from './fields.js';
import { routerErrorType } from './error-shapes.js';
import { routerModelId, routerQueueRequestId } from './identifiers.js';
import { refusalOf } from './public-url.js';
import { routerQueueStatusResponse } from './queue-shapes.js';
import { list } from './settings.js';

/** The body of the call to the `webhook_url` of a queued submission. */
export const routerRunCompleted = z
  .object({
    type: z.literal('run.completed'),
    timestamp: moment('When the run was completed.'),
    data: routerQueueStatusResponse,
    ...attributionFields,
  })
  .meta({
    id: 'RouterRunCompleted',
    description:
      'The call to the `webhook_url` of a run, signed according to Standard Webhooks. It may arrive more than once, with the same `webhook-id`.',
  });

/** The body of a test event. */
export const routerWebhookTest = z
  .object({
    type: z.literal('webhook.test'),
    timestamp: moment('When the event was requested.'),
    data: z.object({}).describe('Empty.'),
  })
  .meta({
    id: 'RouterWebhookTest',
    description: 'The call that `POST /v2/webhooks/test` requests, signed like the webhooks of runs.',
  });

export type RouterWebhookTest = z.infer<typeof routerWebhookTest>;

/** The formats of a webhook's body: Standard Webhooks, or that of another service. */
const webhookForms = ['standard', 'fal', 'replicate'] as const;

export type WebhookForm = (typeof webhookForms)[number];

export const webhookStates = ['pending', 'delivered', 'given_up'] as const;

export type RouterRunCompleted = z.infer<typeof routerRunCompleted>;

export const routerWebhookSecret = z
  .object({
    secret: text('The secret for Standard Webhooks libraries. It begins with `whsec_`.'),
  })
  .meta({ id: 'RouterWebhookSecret', description: 'The secret that signs the webhooks of the workspace.' });

export type RouterWebhookSecret = z.infer<typeof routerWebhookSecret>;

/** A run has at most one webhook, so the id of the run identifies it. The event of a budget has an id of its own. */
export const routerWebhookDelivery = z
  .object({
    request_id: routerQueueRequestId,
    model: routerModelId.optional(),
    budget: text('The name of the budget, for a `budget.threshold` event. It has no model.').optional(),
    test: z.literal(true).optional().describe('Whether it is a test event. It has no model.'),
    error_type: routerErrorType.optional(),
    url: z.url().describe('The URL that is called.'),
    form: z
      .enum(webhookForms)
      .describe('The format of the body: Standard Webhooks, or that of fal or Replicate.'),
    state: z
      .enum(webhookStates)
      .describe(
        '`pending`: another attempt follows. `delivered`: an attempt was answered with a 2xx. `given_up`: the last attempt failed.',
      ),
    tries: count('The number of attempts since the delivery was last started.'),
    problem: z.string().optional().meta({
      description: 'Why the last failed attempt failed.',
      example: 'answered HTTP 500',
    }),
    created_at: moment('When the run was completed, or the share of the budget was spent.'),
    next_try_at: moment('When the next attempt is due. Present while the delivery is pending.').optional(),
    ended_at: moment('When the webhook was delivered or given up.').optional(),
  })
  .meta({
    id: 'RouterWebhookDelivery',
    description: 'The delivery of the webhook of a completed run or of a budget.',
  });

const routerWebhookAttempt = z.object({
  at: moment('When the attempt began.'),
  duration_ms: count('How long it took, in milliseconds.'),
  status: z.int().optional().describe('The HTTP status of the answer. Absent if there was none.'),
  problem: z.string().optional().describe('Why the attempt failed. Absent if it was answered with a 2xx.'),
  response: z
    .string()
    .optional()
    .describe(
      'The first 2 KiB of the body of the answer, as text. It is whatever the receiver sent: do not trust it.',
    ),
});

export const routerWebhookDeliveryDetail = routerWebhookDelivery
  .extend({
    payload: z
      .string()
      .optional()
      .describe(
        'The body that was sent. Absent before the first attempt, and for the formats of fal and Replicate, which contain the output of the run.',
      ),
    attempts: z
      .array(routerWebhookAttempt)
      .describe('The newest attempts, at most eight, oldest first, with those before a redelivery.'),
  })
  .meta({ id: 'RouterWebhookDeliveryDetail', description: 'A delivery with its attempts.' });

export type RouterWebhookDeliveryDetail = z.infer<typeof routerWebhookDeliveryDetail>;

export const routerWebhookTestInput = z
  .object({
    url: z.string().min(1).describe('The URL to call, with the rules of `webhook_url`.'),
  })
  .meta({ id: 'RouterWebhookTestInput', description: 'A request for a test event.' });

export const routerWebhookDeliveryListResponse = pageOf(
  routerWebhookDelivery,
  'At most `limit` deliveries, newest run first.',
  {
    id: 'RouterWebhookDeliveryListResponse',
    description: 'One page of the webhook deliveries of a workspace.',
  },
);

export type RouterWebhookDelivery = z.infer<typeof routerWebhookDelivery>;

/** Gateways use it to check the URLs of callers, workers to check the URLs that they call. */
export const webhookSettings = {
  WEBHOOK_ALLOWED_ORIGINS: list().meta({
    description:
      'Origins that callers may use in `webhook_url` although they are not public or not https, separated by commas; `*` as the port matches any. Use the same value on gateways and workers.',
    example: 'http://127.0.0.1:*',
  }),
};

export type WebhookSettings = z.infer<z.ZodObject<typeof webhookSettings>>;

const maxUrlLength = 2048;

/** Why a text cannot be a webhook URL, as the end of a sentence. Null if it can. */
export function webhookProblem(text: string, allowedOrigins: readonly string[]): string | null {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.href.length > maxUrlLength) return `must not be longer than ${maxUrlLength} characters`;
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (isOriginOf(url, allowedOrigins)) return null;
  const refusal = refusalOf(url);
  return refusal === null ? null : `must be a public https URL: ${refusal}`;
}

/** Whether the URL is on one of the origins. `*` as the port matches any port. */
export function isOriginOf(url: URL, origins: readonly string[]): boolean {
  return origins.includes(url.origin) || origins.includes(`${url.protocol}//${url.hostname}:*`);
}
