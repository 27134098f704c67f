export {
  accessTokenAlgorithm,
  accessTokenClaims,
  accessTokenSettings,
  callerScopes,
  sessionScopes,
  type Scope,
  scopes,
  workspaceScopes,
} from './access-token.js';
export {
  type RouterCostEstimate,
  routerCostEstimate,
  type RouterKey,
  routerKeyInput,
  routerKeyKind,
  routerKeyListResponse,
  type RouterNewKey,
  routerNewKey,
  type RouterRotatedKey,
  routerRotatedKey,
  type RouterRequest,
  type RouterRequestDetail,
  routerRequestDetail,
  routerRequestListResponse,
  routerRunOutcome,
  type RouterSignInLink,
  routerSignInLink,
  type RouterUsageResponse,
  routerUsageResponse,
  type RouterWorkspace,
  type Reservation,
  reservation,
  routerWorkspace,
  routerWorkspaceChange,
  type UsageGrouping,
  usageGrouping,
  type RouterLedgerEntry,
  routerLedgerResponse,
} from './account-shapes.js';
export {
  type Attribution,
  attributionOf,
  attributionView,
  type Dimension,
  isDimension,
  isUser,
  maxTags,
  routerTagList,
  routerUser,
  tagOf,
  type Tags,
  tagsOf,
  tagsText,
  tagSyntax,
} from './attribution.js';
export {
  maxBudgets,
  type RouterBudget,
  type RouterBudgetInput,
  routerBudget,
  routerBudgetInput,
  routerBudgetListResponse,
  routerBudgetName,
  type RouterBudgetThreshold,
  type RouterBudgetValue,
  routerBudgetValueListResponse,
} from './budget-shapes.js';
export {
  firstKeyName,
  isWorkspaceName,
  openingCents,
  operatorNewWorkspace,
  type OperatorOpenedWorkspace,
  operatorOpenedWorkspace,
  operatorSignInLinkInput,
} from './onboarding-shapes.js';
export { signInLinkSettings, signInUrl } from './sign-in-link.js';
export {
  type OperatorActionName,
  operatorActions,
  type OperatorActionView,
  operatorAuditListResponse,
  type OperatorRefund,
  operatorRefund,
  operatorRefundInput,
} from './audit-shapes.js';
export {
  type OperatorAttempt,
  type OperatorAttemptExamples,
  operatorAttemptExamples,
  type OperatorRunDetail,
  operatorRunDetail,
} from './attempt-shapes.js';
export {
  operatorPauseInput,
  type OperatorProvider,
  operatorProvider,
  operatorProviderListResponse,
  type OperatorQueues,
  operatorQueues,
  type OperatorRun,
  type OperatorRunList,
  operatorRunListResponse,
  type OperatorWorkspace,
  operatorWorkspace,
  operatorWorkspaceChange,
  operatorWorkspaceListResponse,
  type ProviderHealthState,
} from './operator-shapes.js';
export { type OperatorRefusal, type RouterRefusal, routerRefusalListResponse } from './refusal-shapes.js';
export {
  type OperatorProviderCheck,
  operatorProviderCheck,
  type OperatorSurprise,
  type ProviderCheckResult,
  type SurpriseKind,
  surpriseKindNames,
} from './provider-check-shapes.js';
export {
  type RouterProviderKey,
  routerProviderKey,
  routerProviderKeyInput,
  type RouterProviderKeyListResponse,
  routerProviderKeyListResponse,
} from './provider-key-shapes.js';
export {
  type RegistryErrorResponse,
  registryErrorResponse,
  type RouterErrorResponse,
  routerErrorResponse,
  routerErrorType,
  type RouterValidationErrorResponse,
  routerValidationErrorResponse,
} from './error-shapes.js';
export { type RouterFile, routerFile, routerFileId, routerFileListResponse } from './file-shapes.js';
export type { Page } from './fields.js';
export { serviceHealth } from './health-shape.js';
export { type CsvValue, csvLine } from './csv.js';
export { isExact, markInexact } from './exact-number.js';
export {
  isUuid,
  routerModelId,
  routerModelSegment,
  routerPageCursor,
  routerProviderSegment,
  routerQueueRequestId,
} from './identifiers.js';
export {
  type JsonContainer,
  type JsonExcess,
  jsonExcess,
  JsonIndex,
  longStringsOf,
  type JsonPlace,
  membersOf,
  placesOf,
  prunedJson,
  replaceStrings,
  stringAt,
  textAt,
  withMembersFirst,
} from './json-text.js';
export {
  type Json,
  type JsonPointer,
  pointerFrom,
  pointerSegments,
  valueAt,
  valuesAt,
} from './json-pointer.js';
export {
  centsFromMicros,
  centsText,
  maxCents,
  microsFromCents,
  type ReportedTerm,
  wholeMicros,
} from './money.js';
export {
  type RouterChargesOnPolicyRejection,
  routerChargesOnPolicyRejection,
  routerModality,
  type RouterModelFullEntry,
  routerModelPage,
  type RouterModelDetail,
  routerModelDetail,
  routerModelInput,
  routerModelInputSchemaDocument,
  type RouterModelListEntry,
  routerModelListEntry,
  routerModelListResponse,
  routerModelOutput,
  type RouterTask,
  routerTask,
} from './model-shapes.js';
export { essenceOf, isJsonType } from './media-type.js';
export { momentOf } from './moment.js';
export { MemberPlaces, ReplacedMembers } from './object-members.js';
export {
  type PredictionFacts,
  predictionMembers,
  predictionModel,
  predictionWithoutOutput,
  replicateBase,
} from './prediction.js';
export { isPublicAddress, refusalOf } from './public-url.js';
export {
  nodeStatus,
  nodeVersionStatus,
  publisherStatus,
  type RegistryNode,
  type RegistryNodeList,
  registryNodeList,
} from './registry-shapes.js';
export {
  type RouterQueueCancelResponse,
  routerQueueCancelResponse,
  routerQueueStatus,
  type RouterQueueStatusResponse,
  routerQueueStatusResponse,
  type RouterQueueSubmitResponse,
  routerQueueSubmitResponse,
} from './queue-shapes.js';
export {
  areSecrets,
  BadSettings,
  count,
  countUpTo,
  databaseUrlSettings,
  list,
  milliseconds,
  readSettings,
  secretsExpected,
  type SettingsShape,
} from './settings.js';
export {
  CannotDecrypt,
  encryptionKeySettings,
  encryptionPublicSettings,
  type EncryptionSettings,
  type Envelope,
  fingerprintOfKey,
  newEncryptionKeys,
  openEnvelope,
  rewrapEnvelope,
  sealEnvelope,
} from './envelope.js';
export { seal, unseal } from './sealed.js';
export { isSigned, signatureOf } from './signature.js';
export { runUrls, type Stage, stagesOf, statusBody, statusOf } from './status-body.js';
export { camelName, spellingsOf } from './spelling.js';
export { cut, isOneLine, oneLine, shortened } from './stored-text.js';
export {
  isOriginOf,
  type RouterRunCompleted,
  type RouterWebhookDelivery,
  routerWebhookDelivery,
  type RouterWebhookDeliveryDetail,
  routerWebhookDeliveryDetail,
  routerWebhookDeliveryListResponse,
  type RouterWebhookSecret,
  routerWebhookSecret,
  type RouterWebhookTest,
  routerWebhookTestInput,
  type WebhookForm,
  webhookProblem,
  type WebhookSettings,
  webhookSettings,
  webhookStates,
} from './webhook.js';
export { packageRoot } from './package-root.js';
export {
  type RouterSampleList,
  routerSampleList,
  type RouterShare,
  routerShare,
  type RouterSharedRun,
  routerSharedRun,
} from './sharing-shapes.js';
