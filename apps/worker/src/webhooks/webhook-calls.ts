import { createHmac } from 'node:crypto';
import { Metrics, runAttributes, TRACING, type Tracing, withTimeout } from '#observability';
import type { DueWebhook } from '#persistence';
import { isJsonType } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import { request } from 'undici';
import { Payloads, type Share } from '../bytes/payloads.js';
import { faultOf, NotConnected } from '../calls/fault.js';
import { OutboundAgents, RefusedAddress } from '../calls/outbound-agents.js';
import { webhookBodies } from './webhook-bodies.js';

/** Larger outputs are not sent, because few receivers accept them. The receiver can fetch them. */
const maxPayloadBytes = 4 * 1024 * 1024;
/** Together these are shorter than the time after which the row is due again. */
const readMs = 15_000;
const callMs = 10_000;
/** Maximum number of bytes read from a response, so that its connection can be reused. */
const maxReadBytes = 64 * 1024;

/** Calls webhook URLs through the agent for public addresses. Redirects are not followed. */
@Injectable()
export class WebhookCalls {
  constructor(
    private readonly agents: OutboundAgents,
    private readonly payloads: Payloads,
    private readonly metrics: Metrics,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {}

  /** Null if the receiver accepted it, otherwise why it failed. */
  async callReceiver(webhook: DueWebhook, signal: AbortSignal): Promise<string | null> {
    using share = this.payloads.openShare();
    const output = await withTimeout(readMs, signal, (bounded) => this.outputOf(webhook, share, bounded));
    const body = webhookBodies[webhook.form](webhook, output);
    const measured = this.metrics.webhookSeconds.startTimer();
    // The trace context is not sent to the receiver, which must not learn about our traces.
    const span = this.tracing.start({
      name: 'webhook',
      kind: 'client',
      parent: webhook.traceparent ?? undefined,
      attributes: runAttributes(webhook),
    });
    const { result, problem } = await this.send(webhook, body, signal);
    span.end(problem === null ? undefined : result);
    if (!signal.aborted) measured({ result });
    return problem;
  }

  /** Null for an output that is not sent. */
  private async outputOf({ output }: DueWebhook, share: Share, signal: AbortSignal) {
    if (output === null || !isJsonType(output.mediaType)) return null;
    const bytes = await this.payloads.readBody(output.body, share, signal);
    return bytes.byteLength <= maxPayloadBytes ? bytes : null;
  }

  private async send(
    { runId, workspaceId, url, secrets }: DueWebhook,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<{ result: string; problem: string | null }> {
    const to = new URL(url);
    const timestamp = String(Math.floor(Date.now() / 1000));
    try {
      const statusCode = await withTimeout(callMs, signal, async (bounded) => {
        const dispatcher = await this.agents.toReceiver(to, { workspaceId, signal: bounded });
        if (dispatcher === null) throw new NotConnected(new RefusedAddress(to.hostname));
        const reply = await request(to, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'model-router',
            'webhook-id': runId,
            'webhook-timestamp': timestamp,
            'webhook-signature': signatures(secrets, runId, timestamp, body),
          },
          body,
          dispatcher,
          signal: bounded,
          headersTimeout: 0,
          bodyTimeout: 0,
        });
        await reply.body.dump({ limit: maxReadBytes, signal: bounded }).catch(() => {});
        return reply.statusCode;
      });
      return statusCode >= 200 && statusCode < 300
        ? { result: 'delivered', problem: null }
        : { result: 'refused', problem: `answered HTTP ${statusCode}` };
    } catch (error) {
      return troubleOf(error);
    }
  }
}

function troubleOf(error: unknown): { result: string; problem: string } {
  const { cause } = faultOf(error) as { cause?: string };
  if (cause === 'refused_address') return { result: cause, problem: 'the address may not be called' };
  if (cause === 'timeout') return { result: cause, problem: `no answer within ${callMs / 1000} s` };
  return { result: 'unreachable', problem: `not reached: ${cause}` };
}

/** The header `webhook-signature` of Standard Webhooks: one signature per secret, separated by spaces. */
export function signatures(secrets: readonly string[], id: string, timestamp: string, body: Buffer): string {
  return secrets
    .map((secret) => {
      const hmac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
      return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
