import { type DueWebhook, isTest, thresholdView } from '#persistence';
import {
  attributionView,
  type PredictionFacts,
  predictionMembers,
  predictionWithoutOutput,
  ReplacedMembers,
  type RouterRunCompleted,
  type RouterWebhookTest,
  runUrls,
  statusBody,
  type WebhookForm,
} from '#schemas';

/** `output` has the bytes of an output that is sent. */
type BodyOf = (webhook: DueWebhook, output: Uint8Array | null) => Buffer;

/** The body of a webhook, by its form. */
export const webhookBodies: Readonly<Record<WebhookForm, BodyOf>> = {
  standard: ({ runId, model, origin, bucket, completedAt, attribution, event }) => {
    if (isTest(event)) {
      const body: RouterWebhookTest = {
        type: 'webhook.test',
        timestamp: completedAt.toISOString(),
        data: {},
      };
      return Buffer.from(JSON.stringify(body));
    }
    if (event !== null) return Buffer.from(JSON.stringify(thresholdView(event, completedAt)));
    const state = { stage: 'completed', position: null, bucket } as const;
    const body: RouterRunCompleted = {
      type: 'run.completed',
      timestamp: completedAt.toISOString(),
      data: statusBody(runId, state, runUrls(origin, { modelId: model, runId })),
      ...attributionView(attribution),
    };
    return Buffer.from(JSON.stringify(body));
  },

  fal: ({ runId, bucket, status, failure }, output) => {
    const ids = { request_id: runId, gateway_request_id: runId };
    if (bucket !== null) {
      const error = `Invalid status code: ${status ?? 500}`;
      const payload = { detail: failure?.fields ?? failure?.detail ?? 'The request was cancelled.' };
      return Buffer.from(JSON.stringify({ ...ids, status: 'ERROR', error, payload }));
    }
    const facts = { ...ids, status: 'OK', error: null };
    if (output === null) {
      const reason =
        'The output is not JSON, is too large, or has expired. If it still exists, fetch it by its request_id.';
      return Buffer.from(JSON.stringify({ ...facts, payload: null, payload_error: reason }));
    }
    const head = JSON.stringify(facts).slice(0, -1);
    return Buffer.concat([Buffer.from(`${head},"payload":`), output, Buffer.from('}')]);
  },

  replicate: (webhook, output) => {
    const { bucket, upstream } = webhook;
    const ended = bucket === 'client_disconnected' ? 'cancelled' : 'failed';
    const facts: PredictionFacts = {
      ...webhook,
      upstream: upstream ?? {},
      stage: 'completed',
      outcome: bucket === null ? 'succeeded' : ended,
    };
    return output === null
      ? Buffer.from(predictionWithoutOutput(facts))
      : new ReplacedMembers(predictionMembers(facts)).add(output);
  },
};
