export {
  accessTokenAlgorithm,
  type AccessTokenClaims,
  accessTokenClaims,
  accessTokenSettings,
  callerScopes,
  type Scope,
  scopes,
} from './access-token.js';
export {
  type RouterCostEstimate,
  routerCostEstimate,
  type RouterKey,
  routerKey,
  routerKeyInput,
  type RouterKeyListResponse,
  routerKeyListResponse,
  type RouterNewKey,
  routerNewKey,
  type RouterRequest,
  routerRequest,
  type RouterRequestListResponse,
  routerRequestListResponse,
  type RouterSignInLink,
  routerSignInLink,
  type RouterUsageResponse,
  routerUsageResponse,
  type RouterWorkspace,
  routerWorkspace,
  usageGroupings,
} from './account-shapes.js';
export {
  type RegistryErrorResponse,
  registryErrorResponse,
  type RouterErrorResponse,
  routerErrorResponse,
  routerErrorType,
  type RouterValidationErrorDetail,
  routerValidationErrorDetail,
  type RouterValidationErrorResponse,
  routerValidationErrorResponse,
} from './error-shapes.js';
export { type RouterFile, routerFile, routerFileId } from './file-shapes.js';
export {
  routerModelId,
  routerModelSegment,
  routerPageCursor,
  routerProviderSegment,
  routerQueueRequestId,
} from './identifiers.js';
export { type JsonExcess, jsonExcess } from './json-limits.js';
export {
  type JsonPlace,
  membersOf,
  placesOf,
  replaceStrings,
  stringAt,
  textAt,
  withMembersFirst,
} from './json-places.js';
export {
  type Json,
  type JsonPointer,
  pointerFrom,
  pointerSegments,
  valueAt,
  valuesAt,
} from './json-pointer.js';
export { type ReportedTerm, wholeMicros } from './micros.js';
export {
  type RouterChargesOnPolicyRejection,
  routerChargesOnPolicyRejection,
  type RouterModelBilling,
  type RouterModality,
  routerModality,
  routerModelBilling,
  type RouterModelFullEntry,
  routerModelFullEntry,
  type RouterModelFullListResponse,
  routerModelFullListResponse,
  routerModelPage,
  type RouterModelDetail,
  routerModelDetail,
  routerModelInput,
  routerModelInputSchemaDocument,
  type RouterModelListEntry,
  routerModelListEntry,
  type RouterModelListResponse,
  routerModelListResponse,
  routerModelOutput,
} from './model-shapes.js';
export { momentOf } from './moment.js';
export { isPublicAddress, refusalOf } from './public-url.js';
export {
  nodeStatus,
  type NodeVersion,
  nodeVersion,
  nodeVersionStatus,
  type Publisher,
  publisher,
  type PublisherMember,
  publisherMember,
  publisherStatus,
  type RegistryNode,
  registryNode,
  type RegistryNodeList,
  registryNodeList,
} from './registry-shapes.js';
export {
  type RouterQueueCancelResponse,
  routerQueueCancelResponse,
  type RouterQueueCancelStatus,
  routerQueueCancelStatus,
  routerQueuePosition,
  type RouterQueueStatus,
  routerQueueStatus,
  type RouterQueueStatusResponse,
  routerQueueStatusResponse,
  type RouterQueueSubmitResponse,
  routerQueueSubmitResponse,
  type RouterQueueUrls,
  routerQueueUrls,
} from './queue-shapes.js';
export {
  BadSettings,
  count,
  databaseUrlSettings,
  list,
  milliseconds,
  readSettings,
  type SettingsShape,
} from './settings.js';
export { runUrls, type Stage, stagesOf, statusBody, statusOf } from './status-body.js';
export {
  isOriginOf,
  type RouterRunCompleted,
  routerRunCompleted,
  type RouterWebhookSecret,
  routerWebhookSecret,
  webhookProblem,
  webhookSettings,
} from './webhook.js';
