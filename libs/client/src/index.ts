export { createRouter, type Router } from './router.js';
export type { ModelsFilter, RunResult } from './router.js';
export type { InputOptions, RunOptions } from './run-options.js';
export type { SubmitOptions, SubscribeOptions } from './router.js';
export type { CallOptions, RouterOptions } from './session.js';
export type { RequestsFilter, UsageOptions } from './account.js';
export {
  type Bucket,
  bucketNames,
  type FieldError,
  RouterError,
  type UnknownFields,
} from './router-error.js';
export type { FileInput, InputOf, ModelId, Models, OutputOf } from './models.js';
export type { ServerSentEvent } from './server-sent-events.js';
export type { StreamOptions } from './stream.js';
export type {
  CancelAnswer,
  CostEstimate,
  Modality,
  ModelEntry,
  RunDetails,
  RunEntry,
  RunHandle,
  RunStatus,
  UploadedFile,
  Usage,
  UsageGrouping,
  WebhookDelivery,
} from './wire.js';
export { verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhook.js';
export { nodeWebhookHandler, webhookHandler, type WebhookSecret } from './webhook-handlers.js';
