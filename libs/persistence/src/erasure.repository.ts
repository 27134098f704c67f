import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

/** Deletes the data of ended runs for their callers: input, output, failure, attempts and assets. */
@Injectable()
export class ErasureRepository {
  constructor(private readonly database: Database) {}

  /**
   * Deletes the rows with the run's data, and makes its objects due for deletion. The audit record and the ledger entry
   * stay, and the deletion is recorded. `erased` also if the data was gone already. Null for an unknown run.
   */
  async eraseRun(workspaceId: string, runId: string, by: string): Promise<'erased' | 'live' | null> {
    const [row] = await this.database.work.query<{ result: 'erased' | 'live' | null }>(
      'SELECT erase_run($1, $2, $3) AS result',
      [workspaceId, runId, by],
    );
    return row?.result ?? null;
  }
}
