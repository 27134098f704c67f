export {
  accessTokenAlgorithm,
  type AccessTokenClaims,
  accessTokenClaims,
  accessTokenSettings,
  type Scope,
  scopes,
} from './access-token.js';
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
export {
  routerModelId,
  routerModelSegment,
  routerPageCursor,
  routerProviderSegment,
  routerQueueRequestId,
} from './identifiers.js';
export {
  type RouterChargesOnPolicyRejection,
  routerChargesOnPolicyRejection,
  type RouterModelBilling,
  routerModelBilling,
  type RouterModelDetail,
  routerModelDetail,
  type RouterModelListEntry,
  routerModelListEntry,
  type RouterModelListResponse,
  routerModelListResponse,
} from './model-shapes.js';
export { momentOf } from './moment.js';
export {
  type NodeQuery,
  nodeQuery,
  type NodeSort,
  type NodeSortColumn,
  nodeSortColumns,
} from './node-query.js';
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
export type { JsonSchema } from './service-document/json-schema.js';
export { headers } from './service-document/headers.js';
export { parameters } from './service-document/parameters.js';
export { type Answer, type Area, areas, type Credentials, type Route } from './service-document/route.js';
export { routes } from './service-document/routes.js';
export { introduction, serviceDocument } from './service-document/service-document.js';
export { componentSchemas, type ShapeName } from './service-document/shapes.js';
export { endOfString, type JsonExcess, scanJson } from './scan-json.js';
