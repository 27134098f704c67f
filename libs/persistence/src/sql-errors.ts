import { RouterError } from '#errors';
import { DatabaseError } from 'pg';

/** A row that another one refers to is not there: a foreign key, and what is selected INTO STRICT. */
const missingRowStates: readonly (string | undefined)[] = ['23503', 'P0002'];
/** Serialization failure, deadlock, two writers of one row: the statement changed nothing and may simply run again. */
export const retryableStates = new Set(['40001', '40P01', '23505']);
/** From a pooler, or a server that crashes: the statement may have been carried out. Classes 08 and 57P02. */
export const ambiguousStates = /^(08|57P02)/;
/** Trouble that passes: SQLSTATE classes 08, 53, 57, 58 (connection, resources, shutdown or timeout, disk), a primary that became a standby, and none at all. */
const transientStates = /^(08|40|53|57|58|25006)/;

/** The statement was sent and its answer was lost: it was carried out, was not, or still is. */
export class AnswerLost extends RouterError {}

/** Throws trouble that passes as `service_unavailable`, and anything else as it is. */
export function translated(error: unknown, Kind: typeof RouterError = RouterError): never {
  const code = sqlState(error);
  if (code !== undefined && !transientStates.test(code)) throw error;
  throw new Kind('service_unavailable', 'The service is temporarily unavailable; please retry.', {
    internal: `postgres: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}

export const isUnavailable = (error: unknown): boolean =>
  error instanceof RouterError && error.bucket === 'service_unavailable';

export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

export class UnknownWorkspace extends Error {
  constructor(readonly nameOrId: string) {
    super(`There is no workspace "${nameOrId}".`);
    this.name = 'UnknownWorkspace';
  }
}

/** Waits for a write in which no other row than the workspace's can be missing. */
export const orUnknownWorkspace = <Result>(workspaceId: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw missingRowStates.includes(sqlState(error)) ? new UnknownWorkspace(workspaceId) : error;
  });
