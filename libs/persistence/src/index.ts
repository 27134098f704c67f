export {
  type Admission,
  AdmissionRepository,
  type AdmissionWindow,
  type Admitted,
  type Refusal,
  type RefusingBudget,
} from './admission.repository.js';
export { announcedOutcome, announcement, type RunOutcome } from './announcement.js';
export {
  ApiKeyRepository,
  type CallerRow,
  type KeyCaller,
  type KeyKind,
  keyKinds,
  type KeyMaker,
  KeyRefused,
  type KeyRow,
  maxKeysADay,
  maxLiveKeys,
  type NewCode,
} from './api-key.repository.js';
export { type Attempt, AttemptRepository, type NotedAttempt } from './attempt.repository.js';
export { BackgroundWriter } from './background-writer.js';
export { type BackupState, backupState, recordBackup } from './backups.js';
export { type BudgetRefusal, BudgetRepository } from './budget.repository.js';
export { CallRepository } from './call.repository.js';
export { type Books, difference } from './carry-over/books.js';
export { DatabaseSnapshot } from './carry-over/database-snapshot.js';
export { type CarriedRow, NewDatabase } from './carry-over/new-database.js';
export { credentialChannel } from './functions/credential-changes.js';
export { Database } from './database.js';
export { DatabaseModule } from './database.module.js';
export { DatabaseOutage } from './database-outage.js';
export { ClockSkew } from './clock-skew.js';
export { dispatchCounts, OutboxRepository, type Load, type OverdueRun } from './outbox.repository.js';
export { type FileRefusal, FileRepository, type StoredFile } from './file.repository.js';
export { type CancelAnswer, RunRepository } from './run.repository.js';
export type { ClaimedRun, Copying, LiveRun, Poll } from './live-run.js';
export { DispatchRepository, type SweptRun, type TakenRun } from './dispatch.repository.js';
export { type DueRow, DueRowRepository } from './due-row.repository.js';
export { isOwnLine, lineOf, providerOf } from './lines.js';
export {
  maxOwnKeyChanges,
  type OwnKey,
  ownKeyContext,
  OwnKeyRepository,
  type SealedKey,
  TooManyKeyChanges,
} from './own-key.repository.js';
export { Workspace } from './entities/workspace.entity.js';
export { LedgerReader, type LedgerRange, type ListedEntry } from './ledger-reader.js';
export { ErasureRepository } from './erasure.repository.js';
export { HeldRunRepository, type Released } from './held-run.repository.js';
export { measuredAnswers, type MeasuredModel, measuredModels } from './measured-models.js';
export { migrate, type Migrated, type PlannedMigration, planMigration, schemaIsCurrent } from './migrate.js';
export { ProcessRecord } from './process-record.js';
export { processName, providerKeys, type RunningProcess, runningProcesses } from './processes.js';
export { type Change, changesSince, recordAction } from './operator-actions.js';
export { OperatorActionReader, placeOfAction } from './operator-action-reader.js';
export { OperatorReader, type OperatorRun } from './operator-reader.js';
export { OperatorRunReader } from './operator-run-reader.js';
export { operatorRefusalView, refusalView } from './refusal-views.js';
export { attemptExamplesView, operatorRunDetailView } from './operator-run-views.js';
export {
  type NotedResults,
  type ProviderHealth,
  ProviderHealthRepository,
  type ProviderResult,
} from './provider-health.js';
export { ProviderReader, type ProviderState } from './provider-reader.js';
export { checkCallMs, ProviderCheckRepository } from './provider-check.repository.js';
export { overshootNews } from './functions/overshoot.js';
export { OvershootRepository } from './overshoot.repository.js';
export { type NotedSurprise, ProviderSurpriseRepository } from './provider-surprise.repository.js';
export { type MirrorWalk, NodeMirrorRepository } from './registry/node-mirror.repository.js';
export { type Moderated, NodeModerationRepository } from './registry/node-moderation.repository.js';
export {
  type NodeFacet,
  type NodeSort,
  type NodeSortColumn,
  nodeSortColumns,
} from './registry/node-columns.js';
export { NodeReader } from './registry/node-reader.js';
export { type NodeRecord, NodeRepository, type Written } from './registry/node.repository.js';
export { type KeepResult, KeptRunRepository } from './kept-run.repository.js';
export { type ListedRequest, RequestReader } from './request-reader.js';
export { type AgedOut, type LiveState, RunReader, type RunResult, type RunState } from './run-reader.js';
export { OnboardingRepository } from './onboarding.repository.js';
export { type KeyState, keyStates, type PoolKey, ProviderKeyRepository } from './provider-key.repository.js';
export { ProviderPauseRepository } from './provider-pause.repository.js';
export type {
  Ending,
  PayloadBody,
  RunFacts,
  StreamFacts,
  Used,
  WebhookAddress,
  WebhookAttempt,
} from './run-facts.js';
export { isTest } from './run-facts.js';
export { type Refund, RefundRepository, refundRefusals } from './refund.repository.js';
export { maxRefusedCalls, type NotedRefusal, RefusedCallRepository } from './refused-call.repository.js';
export { recordRun } from './run-record.js';
export {
  type DatabaseOptions,
  type DatabaseSettings,
  databaseSettings,
  retentionSettings,
} from './settings.js';
export { StoredObjectRepository, type UnneededObjects } from './stored-object.repository.js';
export { RetentionRepository } from './retention.repository.js';
export { budgetUseView, budgetView, thresholdView } from './budget-views.js';
export {
  deliveryDetailView,
  deliveryView,
  keyView,
  ledgerEntryView,
  operatorRunView,
  providerCheckView,
  providerView,
  requestDetailView,
  requestView,
  runLimits,
  termsView,
  usageView,
  workspaceView,
} from './views.js';
export { maxSamples, ModelSampleRepository } from './model-sample.repository.js';
export { SharedRunRepository } from './shared-run.repository.js';
export {
  type DueWebhook,
  type ListedWebhook,
  maxTestsPerMinute,
  type WebhookCall,
  WebhookRepository,
} from './webhook.repository.js';
export { type LedgerLine, UsageReader, type UsageRange, type UsageRecord } from './usage-reader.js';
export { AnswerLost, isUnavailable, UnknownWorkspace } from './sql-errors.js';
export {
  type WorkspaceChange,
  WorkspaceExists,
  type WorkspaceLimits,
  WorkspaceRepository,
  type WorkspaceTerms,
} from './workspace.repository.js';
