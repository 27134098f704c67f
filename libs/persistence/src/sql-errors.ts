import { RouterError } from '#errors';
import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';

/** A referenced row is missing: a foreign key violation, or SELECT INTO STRICT without a row. */
const missingRowStates: readonly (string | undefined)[] = ['23503', 'P0002'];
/** Serialization failure, deadlock, or unique violation: the statement changed nothing and can be retried. */
export const retryableStates = new Set(['40001', '40P01', '23505']);
/**
 * Errors of a pooler or a crashing server, after which the statement may or may not have run: class 08 and 57P02.
 */
export const ambiguousStates = /^(08|57P02)/;
/**
 * Temporary errors: SQLSTATE classes 08 (connection), 40 (rollback), 53 (resources), 57 (shutdown or timeout) and
 * 58 (disk), and 25006 (a primary that became a standby).
 */
const transientStates = /^(08|40|53|57|58|25006)/;

/** The connection was refused or ended: SQLSTATE class 08, a server that stops or starts, and too many connections. */
const unreachableStates = /^(08|57P0[123]|53300)/;
/** A pool reports that all its connections are busy, or that it is closed. */
const poolErrors =
  /^(timeout exceeded when trying to connect|Cannot use a pool after calling end on the pool)$/;

/** The statement was sent but its result was lost. It may have run, may still be running, or may never have run. */
export class AnswerLost extends RouterError {}

/** Throws temporary errors, and errors without an SQLSTATE, as `service_unavailable`. Rethrows any other error. */
export function translated(error: unknown, Kind: typeof RouterError = RouterError): never {
  const code = sqlState(error);
  if (code !== undefined && !transientStates.test(code)) throw error;
  throw new Kind('service_unavailable', 'The service is temporarily unavailable; retry later.', {
    internal: `postgres: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}

export const isUnavailable = (error: unknown): boolean =>
  error instanceof RouterError && error.bucket === 'service_unavailable';

/** Whether Postgres ran the statement and stopped it at the time limit. */
export const isTooSlow = (error: unknown): boolean => sqlState(causeOf(error)) === '57014';

/**
 * Whether the database could not be reached or did not answer in time. Errors without an SQLSTATE come from the
 * connection.
 */
export function isUnreachable(error: unknown): boolean {
  const cause = causeOf(error);
  const code = sqlState(cause);
  if (code !== undefined) return unreachableStates.test(code);
  if (!(cause instanceof Error) || poolErrors.test(cause.message)) return false;
  // An error that is not wrapped may also be a bug of ours.
  return cause !== error || cause.message.startsWith('Connection terminated') || isSystemError(cause);
}

/** The driver's error behind those of TypeORM and the pools. */
function causeOf(error: unknown): unknown {
  if (error instanceof QueryFailedError) return error.driverError;
  return isUnavailable(error) ? (error as RouterError).cause : error;
}

/** Whether the error has a code of the operating system or the name server, such as ECONNREFUSED. */
const isSystemError = (error: Error): boolean => 'code' in error && /^E(?!RR_)/.test(String(error.code));

export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** Whether a lock was not granted in time, or waiting for it would have been a deadlock. */
export const isLockError = (error: unknown): boolean =>
  ['55P03', '40P01'].includes(String((error as { code?: string }).code));

export class UnknownWorkspace extends Error {
  constructor(readonly nameOrId: string) {
    super(`There is no workspace "${nameOrId}".`);
    this.name = 'UnknownWorkspace';
  }
}

/** Awaits a write that can only lack the row of the workspace, and turns a missing row into `UnknownWorkspace`. */
export const orUnknownWorkspace = <Result>(workspaceId: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw missingRowStates.includes(sqlState(error)) ? new UnknownWorkspace(workspaceId) : error;
  });
