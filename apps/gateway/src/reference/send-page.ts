import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

/** How a page's policy names a script or a style sheet that stands in the page itself. */
export const inPage = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Sends a page that may use what `sources` names, directives of a content security policy, and nothing else. */
export function sendPage(reply: FastifyReply, page: string, sources: readonly string[]): void {
  const policy = [
    `default-src 'none'`,
    ...sources,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ];
  void reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'public, max-age=300')
    .header('content-security-policy', policy.join('; '))
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(page);
}
