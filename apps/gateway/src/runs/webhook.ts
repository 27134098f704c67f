import { RouterError } from '#errors';
import type { WebhookAddress } from '#persistence';
import { webhookProblem } from '#schemas';
import { z } from 'zod';

const address = z.string({ error: 'must be given once' }).optional();

/** What a queued submit may ask to be called back by. */
export const webhookQuery = z.object({
  webhook_url: address.meta({
    description:
      'A public https URL that is called once when the run is completed, however it ends: a POST of `RouterRunCompleted`, signed as Standard Webhooks says, tried eight times within 24 hours.',
  }),
  fal_webhook: address.meta({
    description:
      'The same for clients of fal: the body is what fal sends, with the output in it. Instead of `webhook_url`.',
  }),
});

type WebhookQuery = z.output<typeof webhookQuery>;

/** Who is to be called; throws for an address that may not be. */
export function webhookOf(
  { webhook_url: standard, fal_webhook: fal }: WebhookQuery,
  allowedOrigins: readonly string[],
): WebhookAddress | undefined {
  if (standard !== undefined && fal !== undefined)
    throw new RouterError('invalid_input', 'Give webhook_url or fal_webhook, not both.');
  const url = standard ?? fal;
  if (url === undefined) return undefined;
  const form = standard === undefined ? 'fal' : 'standard';
  const problem = webhookProblem(url, allowedOrigins);
  if (problem !== null)
    throw new RouterError('invalid_input', `${form === 'fal' ? 'fal_webhook' : 'webhook_url'} ${problem}.`);
  return { url, receiver: new URL(url).origin, form };
}
