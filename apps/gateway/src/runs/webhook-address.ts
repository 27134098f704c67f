import { RouterError } from '#errors';
import type { WebhookAddress } from '#persistence';
import { type WebhookForm, webhookProblem, type WebhookSettings } from '#schemas';

/**
 * The webhook to call when a run has finished. Throws for a URL that may not be called; `name` is the name that the
 * caller gave it by.
 */
export function webhookAddress(
  url: string,
  { name, form }: { name: string; form: WebhookForm },
  { WEBHOOK_ALLOWED_ORIGINS: allowedOrigins }: WebhookSettings,
): WebhookAddress {
  const problem = webhookProblem(url, allowedOrigins);
  if (problem !== null) throw new RouterError('invalid_input', `${name} ${problem}.`);
  // The normalised URL: the text itself may contain blanks, and a NUL, which the database does not accept.
  const { href, origin } = new URL(url);
  return { url: href, receiver: origin, form };
}
