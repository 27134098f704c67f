import { createHmac } from 'node:crypto';
import { Metrics, withTimeout } from '#observability';
import type { DueWebhook } from '#persistence';
import { Injectable } from '@nestjs/common';
import { request } from 'undici';
import { faultOf } from '../calls/fault.js';
import { OutboundAgents } from '../calls/outbound-agents.js';
import { WebhookBodies } from './webhook-bodies.js';

const callMs = 10_000;
/** Read of an answer, so that its connection can be used again. */
const maxReadBytes = 64 * 1024;

/** Calls the addresses that callers named, through the agent that reaches public addresses only. Redirects are not followed. */
@Injectable()
export class WebhookCalls {
  constructor(
    private readonly agents: OutboundAgents,
    private readonly bodies: WebhookBodies,
    private readonly metrics: Metrics,
  ) {}

  /** Null when the receiver took it, else why it did not. */
  async call(webhook: DueWebhook, signal: AbortSignal): Promise<string | null> {
    const body = await this.bodies.of(webhook, signal);
    const startedAt = performance.now();
    const { result, problem } = await this.send(webhook, body, signal);
    if (!signal.aborted)
      this.metrics.webhookSeconds.observe({ result }, (performance.now() - startedAt) / 1000);
    return problem;
  }

  private async send({ runId, url, secrets }: DueWebhook, body: Buffer, signal: AbortSignal) {
    const to = new URL(url);
    const dispatcher = this.agents.toReceiver(to);
    if (dispatcher === null) return { result: 'refused_address', problem: 'the address may not be called' };
    const timestamp = String(Math.floor(Date.now() / 1000));
    try {
      const statusCode = await withTimeout(callMs, signal, async (bounded) => {
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

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret, separated by spaces. */
export function signatures(secrets: readonly string[], id: string, timestamp: string, body: Buffer): string {
  return secrets
    .map((secret) => {
      const hmac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
      return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
