import type { Database } from './database.js';
import { type Ending, endingRow, type FinishedRun, type Granted, payloadColumns } from './run-facts.js';
import { type BatchResults, joinedBodies, WorkspaceBatches } from './workspace-batches.js';

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

const text = 'SELECT finish_all($1, $2, $3, $4) AS results';

/** Writes outcomes of runs, in batches, for as long as `retryForMs` while the database is away. */
export class RunEndings {
  private readonly batches: WorkspaceBatches<EndingRun, Finished>;

  constructor(
    private readonly database: Database,
    private readonly retryForMs: number,
  ) {
    this.batches = new WorkspaceBatches({
      send: (runs, waits) => this.send(runs, waits),
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

  private async send(runs: EndingRun[], waits: boolean): Promise<BatchResults<Finished>> {
    const spaces = runs.map(({ workspaceId }) => workspaceId);
    const { places, joined } = joinedBodies(runs.map(({ body }) => body));
    const entries = runs.map(({ runId, epoch, ending }, nth) => {
      const head = JSON.stringify({ runId, epoch, ...places[nth] });
      return `${head.slice(0, -1)},"ending":${ending}}`;
    });
    const values = [spaces, `[${entries.join()}]`, joined, waits];
    const rows = await this.database.persist<{ results: (Finished | null)[] }>(text, values, this.retryForMs);
    return rows.flatMap(({ results }) => results);
  }
}
