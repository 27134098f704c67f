import { RouterError } from '#errors';
import { failpoint } from '#observability';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Batches, type BatchResults, joinedBodies, workspaceResults, workspaceRows } from './batches.js';
import { Database } from './database.js';
import type { Run } from './entities/run.entity.js';
import type { Workspace } from './entities/workspace.entity.js';
import { type PayloadBody, payloadColumns } from './run-facts.js';
import { AnswerLost } from './sql-errors.js';

export interface Admission extends Pick<
  Run,
  'workspaceId' | 'model' | 'provider' | 'mode' | 'facts' | 'credential' | 'call'
> {
  runId: string;
  /**
   * The maximum that the run can cost, which is reserved unless its workspace reserves what runs likely cost, and the
   * amount that is billed unless the reply reports its usage.
   */
  reservedMicros: number;
  likelyMicros?: number;
  computedMicros: number;
  /** The idempotency key, and the hex SHA-256 by which two requests count as the same. */
  key?: string;
  fingerprint?: string;
  /** The process that holds the connection of a call without a key, if an equal call may join the run when it breaks. */
  heldBy?: string;
  /** The number that the client of such a call gives to it. By default 0. */
  attempt?: number;
  body: PayloadBody;
}

export type Refusal = 'ceiling' | 'credits' | 'budget' | 'window' | 'inflight' | 'spend' | 'backlog';

/** A hard budget that has no room for a run, in the window of the admission. Amounts are micro-dollars. */
export interface RefusingBudget {
  name: string;
  window: 'day' | 'week' | 'month' | 'total';
  limitMicros: number;
  spentMicros: number;
  reservedMicros: number;
  /** Null for a total. */
  resetsAt: string | null;
}

/** The runs that the workspace may begin in a minute and has left in this one, and the milliseconds until the next. */
export interface AdmissionWindow {
  windowLimit: number;
  windowLeft: number;
  windowEndsInMs: number;
}

export type Admitted =
  /** Without the window if the run was found after the answer of its admission was lost. */
  | ({ kind: 'admitted'; runId: string; ready: boolean; position: number } & Partial<AdmissionWindow>)
  | { kind: 'existing'; runId: string; matches: boolean; delivered: boolean }
  | ({ kind: 'refused'; limit: Refusal; budget?: RefusingBudget | null } & AdmissionWindow &
      Pick<
        Workspace,
        | 'inflight'
        | 'inflightLimit'
        | 'committedMicros'
        | 'committedLimitMicros'
        | 'backlogLimit'
        | 'balanceMicros'
        | 'heldMicros'
        | 'excessMicros'
        | 'overdraftLimitMicros'
      > & {
        /** The amount that the run would have reserved, and the most that it could have cost. */
        costMicros: number;
        boundMicros: number;
      });

const lookEveryMs = 100;

/** Admits runs, in batches. */
@Injectable()
export class AdmissionRepository {
  private readonly batches = new Batches(
    (admissions: readonly (Admission & { bytes: number })[], waits) => this.admitAll(admissions, waits),
    // Admissions fail at once while the database is down.
    workspaceRows(0),
  );

  constructor(private readonly database: Database) {}

  admitRun(admission: Admission): Promise<Admitted> {
    const { body } = admission;
    return this.batches.add({ ...admission, bytes: 'storedAs' in body ? 0 : body.byteLength });
  }

  private async admitAll(admissions: readonly Admission[], waits: boolean): Promise<BatchResults<Admitted>> {
    const spaces = admissions.map(({ workspaceId }) => workspaceId);
    const { places, joined } = joinedBodies(admissions.map(({ body }) => payloadColumns(body)[0]));
    const runs = admissions.map(({ body, ...run }, nth) => ({
      ...run,
      ...places[nth],
      ...('storedAs' in body && body),
    }));
    await failpoint('admit.beforeCommit');
    try {
      const rows = await this.database.work.query<{ results: (Admitted | null)[] }>(
        'SELECT admit($1, $2, $3, $4) AS results',
        [spaces, JSON.stringify(runs), joined, waits],
      );
      await failpoint('admit.afterCommit');
      return workspaceResults(rows, waits);
    } catch (error) {
      if (!(error instanceof AnswerLost)) throw error;
      return this.resultsByLooking(admissions, error);
    }
  }

  /**
   * Looks the runs up by their ids, which this process chose. A batch is admitted as a whole, so if one run exists,
   * the runs that are missing were rejected or repeat an earlier request. Their callers must retry.
   */
  private async resultsByLooking(
    admissions: readonly Admission[],
    lost: AnswerLost,
  ): Promise<BatchResults<Admitted>> {
    // The caller waits as long for this as for a connection.
    const withinMs = this.database.acquireMs;
    const ids = admissions.map(({ runId }) => runId);
    const admitted = await Promise.race([this.lookFor(ids, withinMs), pause(withinMs)]);
    if (!admitted) throw lost;
    const missing = new RouterError(lost.bucket, lost.publicDetail, { cause: lost });
    return ids.map((runId) => admitted.get(runId) ?? missing);
  }

  private async lookFor(ids: string[], withinMs: number): Promise<Map<string, Admitted> | undefined> {
    const lastMs = performance.now() + withinMs;
    while (performance.now() < lastMs) {
      const rows = await this.database.reads
        .query<Extract<Admitted, { kind: 'admitted' }>>(
          `SELECT 'admitted' AS kind, id AS "runId", stage = 'ready' AS ready, admitted_position AS position
            FROM run WHERE id = ANY($1::uuid[])`,
          [ids],
        )
        .catch(() => []);
      if (rows.length > 0) return new Map(rows.map((row) => [row.runId, row]));
      await pause(lookEveryMs);
    }
    return undefined;
  }
}
