export { type Bucket, type BucketFacts, bucketNames, buckets } from './buckets.js';
export { type FieldError, InputRejection, type UnknownField } from './input-rejection.js';
export { type ErrorReply, RouterError } from './router-error.js';
export { StartupError } from './startup-error.js';
