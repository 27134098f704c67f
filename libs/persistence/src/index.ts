export { type Admission, AdmissionRepository, type Admitted, type Refusal } from './admission.repository.js';
export { ApiKeyRepository, type CallerRow } from './api-key.repository.js';
export { AnswerLost, Database } from './database.js';
export { DatabaseModule } from './database.module.js';
export { ClockSkew } from './clock-skew.js';
export { OutboxRepository, type Drift, type Load, type OverdueRun } from './outbox.repository.js';
export { type Claim, type Copying, RunRepository, type Poll } from './run.repository.js';
export { ApiKey } from './entities/api-key.entity.js';
export { Workspace } from './entities/workspace.entity.js';
export { HeldRunRepository, type Released } from './held-run.repository.js';
export { isApiKey, keyPrefix } from './key-format.js';
export { migrate, schemaIsCurrent } from './migrate.js';
export { ProcessRecord, type RunningProcess, runningProcesses } from './processes.js';
export type { Demands, PageAsk } from './registry/page-query.js';
export { Registry } from './registry/registry.js';
export type { NodeRecord, Written } from './registry/put-nodes.js';
export { type MirrorWalk, RegistryMirrors } from './registry/registry-mirrors.js';
export { RegistryRulings, type Ruled } from './registry/registry-rulings.js';
export { RegistryWriting } from './registry/registry-writing.js';
export { type SortColumn, sortColumns, type SortKey } from './registry/sorting.js';
export { type AgedOut, type CancelAnswer, RunReader, type RunResult, type RunState } from './run-reader.js';
export {
  type ProviderPause,
  ProviderPauseRepository,
  type ProviderState,
} from './provider-pause.repository.js';
export type { AdmittingCall, Ending, Granted, PayloadBody, RunFacts, Stage } from './run-facts.js';
export { databaseSettings, type DatabaseSettings, retentionSettings } from './settings.js';
export { StoredObjectRepository, type UnneededObjects } from './stored-object.repository.js';
export { RetentionRepository } from './retention.repository.js';
export { type LedgerLine, UsageReader, type UsageRange, type UsageRecord } from './usage-reader.js';
export {
  UnknownWorkspace,
  type WorkspaceLimits,
  WorkspaceRepository,
  type WorkspaceSettings,
} from './workspace.repository.js';
