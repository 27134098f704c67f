import type { ListedWebhook, WorkspaceStanding } from '#persistence';
import { centsFromMicros, type RouterWebhookDelivery, type RouterWorkspace } from '#schemas';

/** The allowances of a workspace's runs, and what of them is in use. */
export const runLimits = (now: WorkspaceStanding): RouterWorkspace['limits'] => ({
  inflight: { limit: now.inflightLimit, current: now.inflight },
  committed_spend_cents: {
    limit: centsFromMicros(now.committedLimitMicros),
    current: centsFromMicros(now.committedMicros),
  },
  backlog: { limit: now.backlogLimit, current: now.backlog },
  runs_per_minute: { limit: now.windowLimit, current: now.windowCount },
});

/** The webhook of a run as its workspace sees it. */
export const shownDelivery = (webhook: ListedWebhook): RouterWebhookDelivery => ({
  request_id: webhook.runId,
  model: webhook.model,
  ...(webhook.bucket !== null && { error_type: webhook.bucket }),
  url: webhook.url,
  form: webhook.form,
  state: webhook.state,
  tries: webhook.tries,
  ...(webhook.problem !== null && { problem: webhook.problem }),
  created_at: webhook.completedAt.toISOString(),
  ...(webhook.dueAt && { next_try_at: webhook.dueAt.toISOString() }),
  ...(webhook.endedAt && { ended_at: webhook.endedAt.toISOString() }),
});
