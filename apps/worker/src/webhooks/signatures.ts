import { createHmac } from 'node:crypto';

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret, separated by spaces. */
export function signatures(secrets: readonly string[], id: string, timestamp: string, body: Buffer): string {
  return secrets
    .map((secret) => {
      const hmac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
      return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
