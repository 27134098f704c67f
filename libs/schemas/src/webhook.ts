import { z } from 'zod';
import { count, moment, pageOf, text } from './fields.js';
import { routerErrorType } from './error-shapes.js';
import { routerModelId, routerQueueRequestId } from './identifiers.js';
import { refusalOf } from './public-url.js';
import { routerQueueStatusResponse } from './queue-shapes.js';
import { list } from './settings.js';

/** What is sent to the address that a queued submit named in `webhook_url`. */
export const routerRunCompleted = z
  .object({
    type: z.literal('run.completed'),
    timestamp: moment('When the run was completed.'),
    data: routerQueueStatusResponse,
  })
  .meta({
    id: 'RouterRunCompleted',
    description:
      'The call to a run’s `webhook_url`, signed as Standard Webhooks says. It may come more than once, with the same `webhook-id`.',
  });

export const webhookStates = ['pending', 'delivered', 'given_up'] as const;

export type RouterRunCompleted = z.infer<typeof routerRunCompleted>;

export const routerWebhookSecret = z
  .object({
    secret: text('For libraries of Standard Webhooks; it begins with `whsec_`.'),
  })
  .meta({ id: 'RouterWebhookSecret', description: 'What the webhooks of the workspace are signed with.' });

export type RouterWebhookSecret = z.infer<typeof routerWebhookSecret>;

/** A run has one webhook at most, so it is named by its run. */
export const routerWebhookDelivery = z
  .object({
    request_id: routerQueueRequestId,
    model: routerModelId,
    error_type: routerErrorType.optional(),
    url: z.url().describe('What is called.'),
    form: z.enum(['standard', 'fal']).describe('Whose body is sent.'),
    state: z
      .enum(webhookStates)
      .describe('Whether a try is to come, one was answered with a 2xx, or the last one failed.'),
    tries: count('How many calls were made since it was last due anew.'),
    problem: z.string().optional().meta({
      description: 'What came of the last call that failed.',
      example: 'answered HTTP 500',
    }),
    created_at: moment('When the run was completed.'),
    next_try_at: moment('While it is pending.').optional(),
    ended_at: moment('When it was delivered or given up.').optional(),
  })
  .meta({ id: 'RouterWebhookDelivery', description: 'The call that tells that a run is completed.' });

export const routerWebhookDeliveryListResponse = pageOf(
  routerWebhookDelivery,
  'At most `limit` of them, newest run first.',
  { id: 'RouterWebhookDeliveryListResponse', description: 'One page of the webhooks of a workspace.' },
);

export type RouterWebhookDelivery = z.infer<typeof routerWebhookDelivery>;

/** Gateways judge by it what a caller may name, workers what they call. */
export const webhookSettings = {
  WEBHOOK_ALLOWED_ORIGINS: list().meta({
    description:
      'Origins that callers may use in `webhook_url` although they are not public or not https, separated by commas; `*` as the port matches any. Use the same value on gateways and workers.',
    example: 'http://127.0.0.1:*',
  }),
};

export type WebhookSettings = z.infer<z.ZodObject<typeof webhookSettings>>;

const maxUrlLength = 2048;

/** Why a text is no address that a webhook can be sent to, as the end of a sentence; null when it is one. */
export function webhookProblem(text: string, allowedOrigins: readonly string[]): string | null {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.href.length > maxUrlLength) return `must not be longer than ${maxUrlLength} characters`;
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (isOriginOf(url, allowedOrigins)) return null;
  const refusal = refusalOf(url);
  return refusal === null ? null : `must be a public https URL: ${refusal}`;
}

/** Whether the URL is on one of the origins; `*` as the port stands for any. */
export function isOriginOf(url: URL, origins: readonly string[]): boolean {
  return origins.includes(url.origin) || origins.includes(`${url.protocol}//${url.hostname}:*`);
}
