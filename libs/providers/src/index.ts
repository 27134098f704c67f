export type {
  ArrivingEvents,
  BodyPiece,
  CallerTools,
  EventStream,
  Fault,
  FileUse,
  Handle,
  HttpCall,
  HttpReply,
  InputFile,
  Outcome,
  ProviderAdapter,
  ProviderDefinition,
  ProviderFailure,
  ProviderOutput,
  ProviderTool,
  ProviderTools,
  Run,
  Signal,
  StreamTerms,
  SubmittedRun,
  Surprise,
  TokenExchange,
  ToolFee,
} from './contract.js';
export type { CheckAnswer } from './check.js';
export { carriedTexts, secretTexts } from './secret-texts.js';
export { credentialHeaders, credentialUrl } from './trusted-origins.js';
export { toRejection } from './failure.js';
export { parsedYaml } from './parsed-yaml.js';
export { declaredProvider } from './declared/declared.js';
export { type RowProblem, rowProblems } from './declared/row-problems.js';
export { generated } from './declared/generated.js';
export { providerRow } from './declared/shape.js';
export {
  type BoundProvider,
  bindProviders,
  type KeyedProvider,
  mayUseAnother,
  providerKeySettings,
  providerList,
  providerSettings,
  settingStem,
  simulatorSettings,
} from './providers.js';
export { defaultKeyName, isPool, type OperatorKey, type ProviderKey } from './provider-keys.js';
export { dataOf, EventSplitter } from './event-splitter.js';
export { RefusedInput } from './encodings.js';
export {
  headersFor,
  type InputHeaders,
  inputHeaderNames,
  inputHeadersOf,
  pricedValueIn,
  type TakenHeaders,
} from './input-headers.js';
export { inlineFile } from './inline-file.js';
export {
  type Asked,
  isResult,
  type ReadReply,
  readReply,
  reportedMicros,
  type RowOfReplies,
} from './read-reply.js';
export { isSuccess } from './reply.js';
