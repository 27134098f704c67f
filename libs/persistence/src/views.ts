import {
  attributionView,
  centsFromMicros,
  type OperatorProvider,
  type OperatorProviderCheck,
  type OperatorRun as OperatorRunView,
  type OperatorSurprise,
  type OperatorWorkspace,
  type RouterKey,
  type RouterLedgerEntry,
  type RouterRequest,
  type RouterRequestDetail,
  type RouterUsageResponse,
  type RouterWebhookDelivery,
  type RouterWebhookDeliveryDetail,
  type RouterWorkspace,
  runUrls,
  statusOf,
} from '#schemas';
import type { KeyRow } from './api-key.repository.js';
import type { ListedEntry } from './ledger-reader.js';
import type { OperatorRun } from './operator-reader.js';
import type { ProviderCheckAnswer } from './provider-check.repository.js';
import type { ProviderState } from './provider-reader.js';
import type { ListedRequest, RequestDetail } from './request-reader.js';
import { isTest } from './run-facts.js';
import type { UsageGroup } from './usage-reader.js';
import type { ListedWebhook, WebhookDetail } from './webhook.repository.js';
import type { WorkspaceStanding, WorkspaceState, WorkspaceTerms } from './workspace.repository.js';

// Rows as the HTTP interface and the operators' commands show them. Fields that do not apply are absent.

/** The limits of a workspace's runs, and their current use. */
export const runLimits = (now: WorkspaceStanding): RouterWorkspace['limits'] => ({
  inflight: { limit: now.inflightLimit, current: now.inflight },
  committed_spend_cents: {
    limit: centsFromMicros(now.committedLimitMicros),
    current: centsFromMicros(now.committedMicros),
  },
  backlog: { limit: now.backlogLimit, current: now.backlog },
  runs_per_minute: { limit: now.windowLimit, current: now.windowCount },
  overdraft_cents: {
    limit: centsFromMicros(now.overdraftLimitMicros),
    current: centsFromMicros(Math.max(0, -(now.balanceMicros ?? 0))),
  },
});

/** The terms say what a workspace allows and demands. */
export const termsView = (now: WorkspaceTerms) => ({
  allow_samples: now.allowSamples,
  allow_provider_tools: now.allowProviderTools,
  required_tags: now.requiredTags,
  requires_user: now.requiresUser,
});

export const workspaceView = (state: WorkspaceState): OperatorWorkspace => ({
  id: state.id,
  name: state.name,
  created_at: state.createdAt.toISOString(),
  enabled: state.enabled,
  visible: state.visible,
  runnable: state.runnable,
  markup: state.markup,
  own_key_fee: state.ownKeyFee,
  reservation: state.reservation,
  ...termsView(state),
  ...(state.resultRetentionSeconds !== null && { result_retention_seconds: state.resultRetentionSeconds }),
  limits: {
    ...runLimits(state),
    files: { limit: state.fileLimit, current: state.files },
    file_bytes: { limit: state.fileBytesLimit, current: state.fileBytes },
  },
  credits_cents: state.balanceMicros === null ? null : centsFromMicros(state.balanceMicros),
  held_cents: centsFromMicros(state.heldMicros),
  today: {
    runs: state.runsToday,
    succeeded: state.succeededToday,
    cost_cents: centsFromMicros(state.billedMicrosToday),
  },
});

const timesOf = (run: OperatorRun | ListedRequest) => ({
  created_at: run.admittedAt.toISOString(),
  ...(run.grantedAt && { granted_at: run.grantedAt.toISOString() }),
  ...(run.dispatchedAt && { started_at: run.dispatchedAt.toISOString() }),
  ...(run.outputAt && { output_at: run.outputAt.toISOString() }),
  ...(run.completedAt && { completed_at: run.completedAt.toISOString() }),
});

export const operatorRunView = (run: OperatorRun): OperatorRunView => ({
  request_id: run.requestId,
  workspace: { id: run.workspaceId, name: run.workspace },
  model: run.model,
  provider: run.provider,
  ...(run.simulated && { simulated: true }),
  status: statusOf(run.stage),
  stage: run.stage,
  ...(run.reason !== null && { reason: run.reason }),
  ...(run.bucket !== null && { error_type: run.bucket }),
  ...(run.stage === 'completed' && run.status !== null && { error_status: run.status }),
  ...timesOf(run),
});

/** A run of a workspace. If an origin is given, the view has URLs on it until the result ages out. */
export const requestView = (run: ListedRequest, origin?: string): RouterRequest => ({
  request_id: run.requestId,
  model: run.model,
  ...(run.simulated && { simulated: true }),
  status: statusOf(run.stage),
  ...(run.outcome !== null && { outcome: run.outcome }),
  ...(run.bucket !== null && { error_type: run.bucket }),
  ...(run.keyId !== null && { key_id: run.keyId }),
  ...(run.keyName !== null && { key_name: run.keyName }),
  ...attributionView(run.attribution),
  ...timesOf(run),
  ...(run.completedAt && {
    duration_ms: Math.max(0, run.completedAt.getTime() - run.admittedAt.getTime()),
  }),
  reserved_cents: centsFromMicros(run.reservedMicros),
  ...(run.billedMicros !== null && { cost_cents: centsFromMicros(run.billedMicros) }),
  ...(run.basis !== null && { cost_basis: run.basis }),
  result_available: run.completedAt !== null && run.isKept,
  ...(run.kept && { kept: true }),
  ...(run.shared && { shared: true }),
  ...(run.completedAt &&
    run.isKept &&
    !run.kept &&
    run.expiresAt && { expires_at: run.expiresAt.toISOString() }),
  ...(origin !== undefined && run.isKept && runUrls(origin, { modelId: run.model, runId: run.requestId })),
});

export const requestDetailView = (
  run: RequestDetail,
  webhook?: ListedWebhook,
  origin?: string,
): RouterRequestDetail => ({
  ...requestView(run, origin),
  ...(run.failure && { error_detail: run.failure.detail }),
  ...(run.failure?.fields && { error_fields: run.failure.fields }),
  ...(run.attempts !== null && { attempts: run.attempts }),
  ...(run.cancelRequestedAt && { cancel_requested_at: run.cancelRequestedAt.toISOString() }),
  ...(run.assets !== null && { asset_count: run.assets }),
  ...(webhook && { webhook: deliveryView(webhook) }),
});

export const deliveryView = (webhook: ListedWebhook): RouterWebhookDelivery => ({
  request_id: webhook.runId,
  ...eventView(webhook),
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

function eventView({ model, event }: ListedWebhook) {
  if (event === null) return { model };
  return isTest(event) ? { test: event.test } : { budget: event.budget };
}

export const deliveryDetailView = (webhook: WebhookDetail): RouterWebhookDeliveryDetail => ({
  ...deliveryView(webhook),
  ...(webhook.payload !== null && { payload: webhook.payload }),
  attempts: webhook.attempts.map(({ durationMs, ...attempt }) => ({ ...attempt, duration_ms: durationMs })),
});

/** A key without its text. */
export const keyView = (row: KeyRow): RouterKey => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  ...(row.tags && { tags: row.tags }),
  state: row.state,
  ...(row.madeBy !== null && { made_by: row.madeBy }),
  ...(row.madeBySubject !== null && { made_by_subject: row.madeBySubject }),
  created_at: row.createdAt.toISOString(),
  ...(row.expiresAt && { expires_at: row.expiresAt.toISOString() }),
  ...(row.revokedAt && { revoked_at: row.revokedAt.toISOString() }),
  ...(row.lastUsedAt && { last_used_at: row.lastUsedAt.toISOString() }),
  ...(row.rotatedTo !== null && { rotated_to: row.rotatedTo }),
  ...(row.firstId !== null && { first_id: row.firstId }),
});

export const ledgerEntryView = (entry: ListedEntry): RouterLedgerEntry => ({
  id: entry.id,
  kind: entry.runId === null ? 'credits' : entry.amountMicros < 0 ? 'bill' : 'refund',
  created_at: entry.at.toISOString(),
  amount_cents: centsFromMicros(entry.amountMicros),
  ...(entry.balanceMicros !== null && { balance_cents: centsFromMicros(entry.balanceMicros) }),
  ...(entry.runId !== null && { request_id: entry.runId }),
  ...(entry.model !== null && { model: entry.model }),
  ...(entry.basis !== null && { cost_basis: entry.basis }),
  ...(entry.budgets !== null && { budgets: entry.budgets }),
  ...attributionView(entry.attribution),
});

type UsageNumbers = Pick<UsageGroup, 'runs' | 'succeeded' | 'billedMicros'>;

export const usageView = (groups: readonly UsageGroup[]): Pick<RouterUsageResponse, 'data' | 'total'> => ({
  data: groups.map(({ day, model, keyId, attribution = null, ...numbers }) => ({
    ...(day !== undefined && { day }),
    ...(model !== undefined && { model }),
    ...(keyId && { key_id: keyId }),
    ...attributionView(attribution),
    ...usageTotal([numbers]),
  })),
  total: usageTotal(groups),
});

function usageTotal(groups: readonly UsageNumbers[]): RouterUsageResponse['total'] {
  const sum = (of: keyof UsageNumbers) => groups.reduce((total, group) => total + group[of], 0);
  return { runs: sum('runs'), succeeded: sum('succeeded'), cost_cents: centsFromMicros(sum('billedMicros')) };
}

export const pauseView = ({
  calls,
  askedBy,
  actor,
  since,
  until,
  reason,
}: ProviderState['pauses'][number]) => ({
  calls,
  asked_by: askedBy,
  ...(actor !== null && { actor }),
  since,
  ...(until !== null && { until }),
  reason,
});

/** A provider and the models that it serves. */
export function providerView(
  {
    provider,
    state,
    hasKey,
    simulated,
    slots,
    pauses,
    runs,
    failed,
    throttled,
    load,
    outcomes,
    check,
    surprises,
    keys,
  }: ProviderState,
  models: readonly { id: string; provider: string }[],
): OperatorProvider {
  return {
    provider,
    models: models.filter((model) => model.provider === provider).map(({ id }) => id),
    state,
    has_key: hasKey,
    simulated,
    recent: { runs, failed, throttled },
    pauses: pauses.map(pauseView),
    keys: keys.map(keyStateView),
    ...(check && { check: { ...checkFacts(check), checked_at: check.checkedAt } }),
    surprises: surprises.map(surpriseView),
    pressure: {
      slots: { limit: slots, in_use: load.submitting.runs },
      waiting: waiting([load.waiting]),
      under_way: waiting([load.submitting, load.running, load.copying]),
      parked: waiting([load.parked]),
    },
    last_hour: outcomesOf(outcomes, 'lastHour'),
    last_day: outcomesOf(outcomes, 'lastDay'),
  };
}

const keyStateView = (key: ProviderState['keys'][number]): OperatorProvider['keys'][number] => ({
  name: key.name,
  state: key.state,
  weight: key.weight,
  ...(key.concurrency !== null && { concurrency: key.concurrency }),
  ...(key.perMinute !== null && { per_minute: key.perMinute }),
  ...(key.coolsUntil !== null && { cools_until: key.coolsUntil }),
  ...(key.leftAt !== null && { left_at: key.leftAt }),
  ...(key.leftFor !== null && { left_for: key.leftFor }),
});

const checkFacts = ({ result, latencyMs, httpStatus, balance, detail }: ProviderCheckAnswer) => ({
  result,
  ...(latencyMs !== undefined && { latency_ms: latencyMs }),
  ...(httpStatus !== undefined && { http_status: httpStatus }),
  ...(balance !== undefined && { balance }),
  ...(detail !== undefined && { detail }),
});

/** The answer to an operator who asked for a check. */
export const providerCheckView = (
  provider: string,
  { checkedAt, ...answer }: ProviderCheckAnswer & { checkedAt?: string },
): OperatorProviderCheck => ({
  provider,
  ...checkFacts(answer),
  ...(checkedAt !== undefined && { checked_at: checkedAt }),
});

const surpriseView = (surprise: ProviderState['surprises'][number]): OperatorSurprise => ({
  kind: surprise.kind,
  count: surprise.count,
  first_at: surprise.firstAt.toISOString(),
  last_at: surprise.lastAt.toISOString(),
  request_id: surprise.runId,
  ...(surprise.model !== null && { model: surprise.model }),
  detail: surprise.detail,
  ...(surprise.httpStatus !== null && { http_status: surprise.httpStatus }),
  ...(surprise.reply !== null && { reply: surprise.reply }),
});

const waiting = (states: ProviderState['load']['waiting'][]) => ({
  runs: states.reduce((sum, { runs }) => sum + runs, 0),
  oldest_seconds: Math.max(...states.map(({ oldestSeconds }) => oldestSeconds)),
});

function outcomesOf(outcomes: ProviderState['outcomes'], within: 'lastHour' | 'lastDay') {
  const ended = outcomes.filter((each) => each[within] > 0);
  const sum = (rows: typeof ended) => rows.reduce((total, each) => total + each[within], 0);
  return {
    requests: sum(ended),
    succeeded: sum(ended.filter(({ bucket }) => bucket === null)),
    errors: Object.fromEntries(
      ended.flatMap(({ bucket, [within]: runs }) => (bucket === null ? [] : [[bucket, runs]])),
    ),
  };
}
