export { createRouter, type Router, type RouterOptions } from './router.js';
export type { CallOptions, RunOptions, SubmitOptions, RunResult } from './router.js';
export { type Bucket, bucketNames, type FieldError, RouterError } from './router-error.js';
export type { InputOf, ModelId, Models, OutputOf } from './models.js';
export type { CancelAnswer, ModelEntry, RunHandle, RunStatus } from './wire.js';
export { verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhook.js';
