import type {
  OperatorAttempt,
  OperatorAttemptExamples,
  OperatorRunDetail as OperatorRunDetailView,
} from '#schemas';
import type { AttemptExample, KeptAttempt } from './attempt.repository.js';
import type { OperatorRunDetail } from './operator-run-reader.js';
import { deliveryDetailView, operatorRunView, pauseView } from './views.js';
import type { WebhookDetail } from './webhook.repository.js';

/** An attempt as operators see it. */
const attemptView = (attempt: KeptAttempt): OperatorAttempt => ({
  at: new Date(attempt.at).toISOString(),
  ...(attempt.count > 1 && { last_at: new Date(attempt.lastAt).toISOString() }),
  count: attempt.count,
  provider: attempt.provider,
  phase: attempt.phase,
  ...(attempt.status !== undefined && { status: attempt.status }),
  class: attempt.class,
  ...(attempt.retry !== undefined && { retry: attempt.retry }),
  reading: attempt.reading,
  ...(attempt.requestId !== undefined && { provider_request_id: attempt.requestId }),
  ...(attempt.reply !== undefined && { reply: attempt.reply }),
});

/** Operators do not see what was sent, which may contain outputs. */
function webhookView(webhook: WebhookDetail) {
  const { payload: _sent, ...view } = deliveryDetailView(webhook);
  return view;
}

export const operatorRunDetailView = (run: OperatorRunDetail): OperatorRunDetailView => ({
  ...operatorRunView(run),
  ...(run.callId !== null && { call_id: run.callId }),
  ...(run.detail !== null && { error_detail: run.detail }),
  ...(run.handle !== null && { handle: run.handle as Record<string, unknown> }),
  ...(run.epoch !== null && { attempts: run.epoch }),
  ...(run.crashes !== null && { crashes: run.crashes }),
  ...(run.dueAt !== null && { due_at: run.dueAt.toISOString() }),
  ...(run.deadlineAt !== null && { deadline_at: run.deadlineAt.toISOString() }),
  pauses: run.pauses.map(pauseView),
  ...(run.traceparent !== null && { trace_id: run.traceparent.split('-')[1] }),
  ...(run.pinnedAt !== null && { pinned_at: run.pinnedAt.toISOString() }),
  ...(run.webhook !== null && { webhook: webhookView(run.webhook) }),
  provider_attempts: run.attempts.map(attemptView),
  provider_attempts_left_out: run.leftOut,
});

export const attemptExamplesView = (examples: readonly AttemptExample[]): OperatorAttemptExamples => ({
  data: examples.map(({ runId, attempt }) => ({ request_id: runId, attempt: attemptView(attempt) })),
});
