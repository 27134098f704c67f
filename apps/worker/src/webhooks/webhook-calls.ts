import { createHmac } from 'node:crypto';
import { Metrics, runAttributes, TRACING, type Tracing, withTimeout } from '#observability';
import type { DueWebhook, WebhookAttempt, WebhookCall } from '#persistence';
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
/** Maximum number of bytes of a response that are shown to the workspace. */
const maxShownBytes = 2 * 1024;

/** Calls webhook URLs through the agent for public addresses. Redirects are not followed. */
@Injectable()
export class WebhookCalls {
  constructor(
    private readonly agents: OutboundAgents,
    private readonly payloads: Payloads,
    private readonly metrics: Metrics,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {}

  /** The call and the answer. Its `problem` is absent if the receiver accepted it. */
  async callReceiver(webhook: DueWebhook, signal: AbortSignal): Promise<WebhookCall> {
    using share = this.payloads.openShare(webhook.workspaceId);
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
    const begunAt = new Date();
    const { result, ...answer } = await this.send(webhook, body, begunAt, signal);
    span.end(answer.problem === undefined ? undefined : result);
    if (!signal.aborted) measured({ result });
    return {
      at: begunAt.toISOString(),
      durationMs: Math.max(0, Date.now() - begunAt.getTime()),
      ...answer,
      payload: webhook.form === 'standard' ? body.toString() : null,
    };
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
    begunAt: Date,
    signal: AbortSignal,
  ): Promise<Answer> {
    const to = new URL(url);
    const timestamp = String(Math.floor(begunAt.getTime() / 1000));
    try {
      return await withTimeout(callMs, signal, async (bounded) => {
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
        const { statusCode: status } = reply;
        const response = await beginningOf(reply.body);
        const answer = { status, ...(response !== '' && { response }) };
        return status >= 200 && status < 300
          ? { result: 'delivered', ...answer }
          : { result: 'refused', problem: `answered HTTP ${status}`, ...answer };
      });
    } catch (error) {
      return troubleOf(error);
    }
  }
}

type Answer = Pick<WebhookAttempt, 'status' | 'problem' | 'response'> & { result: string };

/**
 * The beginning of a body as text that the database can store. A body that breaks off ends there: the status is what
 * counts.
 */
export async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes < maxShownBytes) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxReadBytes) break;
    }
  } catch {
    // Also when the time for the call is up.
  }
  const shown = Buffer.concat(chunks).subarray(0, maxShownBytes);
  // As a stream, the decoder drops a character that was cut in half.
  return new TextDecoder().decode(shown, { stream: true }).replaceAll(/[^\P{Cc}\t\n\r]/gu, '\uFFFD');
}

function troubleOf(error: unknown): Answer {
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
