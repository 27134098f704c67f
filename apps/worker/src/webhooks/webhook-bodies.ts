import type { DueWebhook } from '#persistence';
import { type RouterRunCompleted, runUrls, statusBody } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Payloads } from '../bytes/payloads.js';

/** Larger outputs are left to be collected: few receivers take them. */
const maxPayloadBytes = 4 * 1024 * 1024;

/** What a receiver is sent: the status body, or in fal's form the output itself. The bytes of an output stay as they are. */
@Injectable()
export class WebhookBodies {
  constructor(private readonly payloads: Payloads) {}

  async of(webhook: DueWebhook, signal: AbortSignal): Promise<Buffer> {
    if (webhook.form === 'fal') return this.inFalsForm(webhook, signal);
    const { runId, model, origin, bucket, completedAt } = webhook;
    const state = { stage: 'completed', position: null, bucket } as const;
    const body: RouterRunCompleted = {
      type: 'run.completed',
      timestamp: completedAt.toISOString(),
      data: statusBody(runId, state, runUrls(origin, { modelId: model, runId })),
    };
    return Buffer.from(JSON.stringify(body));
  }

  private async inFalsForm(webhook: DueWebhook, signal: AbortSignal): Promise<Buffer> {
    const { runId, bucket, status, failure } = webhook;
    const ids = { request_id: runId, gateway_request_id: runId };
    if (bucket !== null) {
      const error = `Invalid status code: ${status ?? 500}`;
      const payload = { detail: failure?.fields ?? failure?.detail ?? 'The request was cancelled.' };
      return Buffer.from(JSON.stringify({ ...ids, status: 'ERROR', error, payload }));
    }
    const facts = { ...ids, status: 'OK', error: null };
    const bytes = await this.outputOf(webhook, signal);
    if (bytes === null) {
      const reason = 'The output is no JSON, or too large, or no longer kept; collect it by its request_id.';
      return Buffer.from(JSON.stringify({ ...facts, payload: null, payload_error: reason }));
    }
    const head = JSON.stringify(facts).slice(0, -1);
    return Buffer.concat([Buffer.from(`${head},"payload":`), bytes, Buffer.from('}')]);
  }

  /** Null for one that is not sent. */
  private async outputOf({ output }: DueWebhook, signal: AbortSignal): Promise<Uint8Array | null> {
    if (output === null || !/[/+]json\b/i.test(output.mediaType)) return null;
    const bytes = await this.payloads.withShare((share) => this.payloads.read(output.body, share, signal));
    return bytes.byteLength <= maxPayloadBytes ? bytes : null;
  }
}
