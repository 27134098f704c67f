import { RouterError } from '#errors';
import { failpoint } from '#observability';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Database } from './database.js';
import { AnswerLost } from './sql-errors.js';
import { type AdmittingCall, type PayloadBody, payloadColumns, type RunFacts } from './run-facts.js';
import { type BatchResults, joinedBodies, WorkspaceBatches } from './workspace-batches.js';

export interface Admission {
  runId: string;
  workspaceId: string;
  model: string;
  provider: string;
  mode: 'queued' | 'sync';
  facts: RunFacts;
  /** The most that the run can cost, and what is billed unless a reply says what was used. */
  reservedMicros: number;
  computedMicros: number;
  /** Who admits it: `key:<id>` or `token:<subject>`. */
  credential: string;
  call: AdmittingCall;
  /** Idempotency key with the hex SHA-256 of what makes two requests the same. */
  key?: string;
  fingerprint?: string;
  body: PayloadBody;
}

export type Refusal = 'ceiling' | 'credits' | 'window' | 'inflight' | 'spend' | 'backlog';

export type Admitted =
  | { kind: 'admitted'; runId: string; ready: boolean; position: number }
  | { kind: 'existing'; runId: string; matches: boolean; delivered: boolean }
  | {
      kind: 'refused';
      limit: Refusal;
      inflight: number;
      inflightLimit: number;
      committedMicros: number;
      committedLimitMicros: number;
      backlogLimit: number;
      windowLimit: number;
    };

const lookEveryMs = 100;

const text = 'SELECT admit($1, $2, $3, $4) AS results';

/** Admits runs, in batches. */
@Injectable()
export class AdmissionRepository {
  private readonly batches = new WorkspaceBatches<Admission & { bytes: number }, Admitted>({
    send: (admissions, waits) => this.send(admissions, waits),
    // A caller is told at once.
    patienceMs: 0,
  });

  constructor(private readonly database: Database) {}

  admit(admission: Admission): Promise<Admitted> {
    const { body } = admission;
    return this.batches.add({ ...admission, bytes: 'storedAs' in body ? 0 : body.byteLength });
  }

  private async send(admissions: Admission[], waits: boolean): Promise<BatchResults<Admitted>> {
    const spaces = admissions.map(({ workspaceId }) => workspaceId);
    const { places, joined } = joinedBodies(admissions.map(({ body }) => payloadColumns(body)[0]));
    const runs = admissions.map(({ body, ...run }, nth) => ({
      ...run,
      ...places[nth],
      ...('storedAs' in body && body),
    }));
    const values = [spaces, JSON.stringify(runs), joined, waits];
    await failpoint('admit.beforeCommit');
    try {
      const rows = await this.database.write<{ results: (Admitted | null)[] }>(text, values);
      await failpoint('admit.afterCommit');
      return rows.flatMap(({ results }) => results);
    } catch (error) {
      if (!(error instanceof AnswerLost)) throw error;
      return this.resultsByLooking(admissions, error);
    }
  }

  /**
   * Each run has its id from here, so the database knows whether it was admitted. One is there with its whole batch;
   * those that are missing then were refused, or are retries of others: their callers must retry.
   */
  private async resultsByLooking(admissions: Admission[], lost: AnswerLost): Promise<BatchResults<Admitted>> {
    // A caller waits for that as long as it would for a connection.
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
      const admitted = await this.admittedOf(ids);
      if (admitted.size > 0) return admitted;
      await pause(lookEveryMs);
    }
    return undefined;
  }

  private async admittedOf(ids: string[]): Promise<Map<string, Admitted>> {
    const rows = await this.database
      .read<Extract<Admitted, { kind: 'admitted' }>>(
        `SELECT 'admitted' AS kind, id AS "runId", stage = 'ready' AS ready, admitted_position AS position
          FROM run WHERE id = ANY($1::uuid[])`,
        [ids],
      )
      .catch(() => []);
    return new Map(rows.map((row) => [row.runId, row]));
  }
}
