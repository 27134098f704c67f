import { createHash } from 'node:crypto';
import { admit } from './functions/admit.js';
import { apiKeys } from './functions/api-keys.js';
import { attempts } from './functions/attempts.js';
import { backlog } from './functions/backlog.js';
import { backups } from './functions/backups.js';
import { budgets } from './functions/budgets.js';
import { credentialChanges } from './functions/credential-changes.js';
import { erasure } from './functions/erasure.js';
import { finish } from './functions/finish.js';
import { keepOutput } from './functions/keep-output.js';
import { keptRuns } from './functions/kept-runs.js';
import { lines } from './functions/lines.js';
import { lockedWorkspaces } from './functions/locked-workspaces.js';
import { overshoot } from './functions/overshoot.js';
import { partitions } from './functions/partitions.js';
import { promote } from './functions/promote.js';
import { providerHealth } from './functions/provider-health.js';
import { providerKeys } from './functions/provider-keys.js';
import { providerPause } from './functions/provider-pause.js';
import { refund } from './functions/refund.js';
import { registryFunctions } from './functions/registry.js';
import { releaseHeldRun } from './functions/release-held-run.js';
import { requestCancel } from './functions/request-cancel.js';
import { retention } from './functions/retention.js';
import { routerNow } from './functions/router-now.js';
import { rowTriggers } from './functions/row-triggers.js';
import { sharing } from './functions/sharing.js';
import { storedObjects } from './functions/stored-objects.js';
import { streams } from './functions/streams.js';
import { sweep } from './functions/sweep.js';
import { take } from './functions/take.js';
import { usage } from './functions/usage.js';
import { webhookSecret } from './functions/webhook-secret.js';
import { workersWanted } from './functions/workers-wanted.js';

/**
 * Every function of the schema. Postgres resolves the body of a SQL function when it is created, so callees come
 * first.
 */
export const functions: readonly string[] = [
  routerNow,
  webhookSecret,
  rowTriggers,
  partitions,
  retention,
  storedObjects,
  keptRuns,
  sharing,
  erasure,
  providerHealth,
  lines,
  providerPause,
  backlog,
  promote,
  lockedWorkspaces,
  budgets,
  overshoot,
  finish,
  admit,
  take,
  providerKeys,
  sweep,
  keepOutput,
  requestCancel,
  releaseHeldRun,
  credentialChanges,
  apiKeys,
  refund,
  usage,
  attempts,
  streams,
  registryFunctions,
  workersWanted,
  backups,
];

/** The hex SHA-256 of all functions. */
export const functionsDigest = createHash('sha256').update(functions.join('\n')).digest('hex');

/**
 * The revision of the functions, by which `migrate` avoids replacing newer functions with older ones. If you change
 * a function, increment the revision and update the digest in `functions.spec.ts`.
 */
export const functionsRevision = 13;
