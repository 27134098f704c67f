export type {
  BodyPiece,
  FailureClass,
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
  Run,
  Signal,
  SubmittedRun,
  TokenExchange,
} from './contract.js';
export { credentialHeaders, credentialUrl } from './trusted-origins.js';
export { failureClasses, type Rejection, toRejection } from './failure.js';
export { writeDeclarations } from './declared/built-in.js';
export { declaredProvider, type RowProblem } from './declared/declared.js';
export { providerRow } from './declared/shape.js';
export { job } from './job.js';
export type { HandleFields, JobSpec, RunStatus } from './job-spec.js';
export {
  type BoundProvider,
  bindProviders,
  providerKeySettings,
  providerList,
  providerSettings,
  settingStem,
} from './providers.js';
export { RefusedInput } from './encodings.js';
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
export type { Rule } from './rules.js';
