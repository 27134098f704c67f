export { failpoint } from './failpoint.js';
export { startInternalServer } from './internal-server.js';
export { stopWithParent } from './lifeline.js';
export { createLog, type Log, nestLogger } from './log.js';
export { Metrics } from './metrics.js';
export { recordRun } from './run-record.js';
export { createTracing } from './create-tracing.js';
export { noTracing, readTraceparent, type Span, type Tracing } from './tracing.js';
export { observabilitySettings } from './settings.js';
