import { RouterError } from '#errors';
import type { WebhookAddress } from '#persistence';
import { type WebhookForm, webhookProblem, type WebhookSettings } from '#schemas';

/** The parameters of a submission that name a webhook, each with the form of its body. */
const parameters = [
  { name: 'webhook_url', form: 'standard' },
  { name: 'fal_webhook', form: 'fal' },
] as const;

/** The webhook that the query of a submission names. Throws for two, and for a URL that may not be called. */
export function webhookOf(
  query: Partial<Record<(typeof parameters)[number]['name'], string>>,
  settings: WebhookSettings,
): WebhookAddress | undefined {
  const [given, other] = parameters.flatMap(({ name, form }) => {
    const url = query[name];
    return url === undefined ? [] : [{ name, form, url }];
  });
  if (other !== undefined)
    throw new RouterError('invalid_input', 'Give webhook_url or fal_webhook, not both.');
  return given && webhookAddress(given.url, given, settings);
}

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
