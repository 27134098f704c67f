export { PostgresListener } from './postgres-listener.js';
export { QueueModule } from './queue.module.js';
export { type QueueCounts, type QueueName, queueNames, RunQueues } from './run-queues.js';
export { type DeliveredRun, maxSlotless, RunProcessor, separationMs } from './run.processor.js';
export { done, type JobResult, putBackFor, retryIn } from './run-worker.js';
export { RunSignals } from './run-signals.js';
export { RunStreams, type StreamPiece } from './run-streams.js';
export { type QueueSettings, queueSettings } from './settings.js';
export type { WakeUpListener } from './wake-ups.js';
