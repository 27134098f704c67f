export { boardPath, createBoard } from './board.js';
export { PostgresListener } from './postgres-listener.js';
export { ProviderSlots, type Slot } from './provider-slots.js';
export { QueueModule } from './queue.module.js';
export { type QueueCounts, type QueuedRun, type QueueName, RunQueues } from './run-queues.js';
export { type DeliveredRun, maxSlotless, RunProcessor } from './run.processor.js';
export { done, type JobResult, retryIn } from './run-worker.js';
export { RunSignals } from './run-signals.js';
export { boardSettings, type QueueSettings, queueSettings } from './settings.js';
