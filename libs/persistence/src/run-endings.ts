import type { Database } from './database.js';
import { type Ending, endingRow, type FinishedRun, type Granted, payloadColumns } from './run-facts.js';
import { batchCall, type GroupResults, type Groups, WorkspaceBatches } from './workspace-batches.js';

/** A run with the claim under which it is written, and the workspace whose row is locked for that. */
export interface ClaimedRun {
  runId: string;
  epoch: number;
  workspaceId: string;
}

export type Finished =
  { won: true; granted: Granted[]; record: FinishedRun } | { won: false; granted: Granted[] };

interface EndingRun extends ClaimedRun {
  /** The JSON of its row. */
  ending: string;
  body: Buffer | null;
  bytes: number;
}

const entriesOf = (runs: EndingRun[]): string =>
  `[${runs.map(({ runId, epoch, ending }) => `{"runId":"${runId}","epoch":${epoch},"ending":${ending}}`).join()}]`;
const call = batchCall('finish_all', entriesOf, ({ body }) => body);

/** Writes outcomes of runs, in batches, for as long as `retryForMs` while the database is away. */
export class RunEndings {
  private readonly batches: WorkspaceBatches<EndingRun, Finished>;

  constructor(
    private readonly database: Database,
    private readonly retryForMs: number,
  ) {
    this.batches = new WorkspaceBatches({
      send: (groups, waits) => this.send(groups, waits),
      patienceMs: retryForMs,
    });
  }

  write(run: ClaimedRun, ending: Ending, reportedMicros?: number): Promise<Finished> {
    const [body] = ending.outcome === 'succeeded' ? payloadColumns(ending.body) : [null];
    return this.batches.add({
      ...run,
      ending: endingRow(ending, reportedMicros),
      body,
      bytes: body?.length ?? 0,
    });
  }

  private async send(groups: Groups<EndingRun>, waits: boolean): Promise<GroupResults<Finished>[]> {
    const rows = await this.database.persist<{ results: Finished[] | null }>(
      ...call(groups, waits),
      this.retryForMs,
    );
    return rows.map(({ results }) => results);
  }
}
