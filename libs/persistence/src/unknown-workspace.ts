import { isMissingRow } from './sql-errors.js';

export class UnknownWorkspace extends Error {
  constructor(readonly nameOrId: string) {
    super(`There is no workspace "${nameOrId}".`);
    this.name = 'UnknownWorkspace';
  }
}

/** Waits for a write in which no other row than the workspace's can be missing. */
export const orUnknownWorkspace = <Result>(workspaceId: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw isMissingRow(error) ? new UnknownWorkspace(workspaceId) : error;
  });
