import { RouterError } from '#errors';
import { failpoint } from '#observability';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { AnswerLost, Database } from './database.js';
import { type AdmittingCall, type PayloadBody, payloadColumns, type RunFacts } from './run-facts.js';

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

const statement = { name: 'admit', text: 'SELECT admit($1::jsonb, $2::bytea[]) AS results' };

/** Bounds of one batch, so that a slow or large neighbour cannot hold the workspace row for long. */
const batchRows = 50;
const batchBytes = 4 * 1024 * 1024;

interface Waiting {
  admission: Admission;
  resolve: (result: Admitted) => void;
  reject: (error: unknown) => void;
}

/**
 * Admits runs in one round trip each. Admissions of one workspace that arrive while a call is under way
 * travel together in the next: the row lock of a hot workspace is taken once a batch, not once a run.
 */
@Injectable()
export class AdmissionRepository {
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(private readonly database: Database) {}

  admit(admission: Admission): Promise<Admitted> {
    return new Promise((resolve, reject) => {
      const line = this.waiting.get(admission.workspaceId);
      if (line) {
        line.push({ admission, resolve, reject });
        return;
      }
      this.waiting.set(admission.workspaceId, [{ admission, resolve, reject }]);
      void this.drain(admission.workspaceId);
    });
  }

  private async drain(workspaceId: string): Promise<void> {
    const line = this.waiting.get(workspaceId) ?? [];
    while (line.length > 0) {
      const batch = takeBatch(line);
      try {
        await this.settle(batch);
      } catch (error) {
        if (error instanceof RouterError) {
          // Those in line would fail the same way, each batch after a time-out of its own: all of them fail now.
          const unsent = new RouterError(error.bucket, error.publicDetail, { cause: error });
          for (const each of batch) each.reject(error);
          for (const each of line.splice(0)) each.reject(unsent);
        } else {
          // Something is wrong with one of them: each alone, so that it fails alone.
          await Promise.all(batch.map((each) => this.settle([each]).catch(each.reject)));
        }
      }
    }
    this.waiting.delete(workspaceId);
  }

  private async settle(batch: Waiting[]): Promise<void> {
    await failpoint('admit.beforeCommit');
    try {
      const results = await this.send(batch.map((each) => each.admission));
      await failpoint('admit.afterCommit');
      batch.forEach((each, index) => each.resolve(results[index] as Admitted));
    } catch (error) {
      if (!(error instanceof AnswerLost)) throw error;
      await this.settleByLooking(batch, error);
    }
  }

  /**
   * Each run has its id from here, so the database knows whether it was admitted. One is there with its whole batch;
   * those that are missing then were refused, or are retries of others: their callers must retry.
   */
  private async settleByLooking(batch: Waiting[], lost: AnswerLost): Promise<void> {
    // A caller waits for that as long as it would for a connection.
    const withinMs = this.database.acquireMs;
    const admitted = await Promise.race([this.lookFor(batch, withinMs), pause(withinMs)]);
    if (!admitted) throw lost;
    const missing = new RouterError(lost.bucket, lost.publicDetail, { cause: lost });
    for (const each of batch) {
      const found = admitted.get(each.admission.runId);
      if (found) each.resolve(found);
      else each.reject(missing);
    }
  }

  private async lookFor(batch: Waiting[], withinMs: number): Promise<Map<string, Admitted> | undefined> {
    const lastMs = performance.now() + withinMs;
    while (performance.now() < lastMs) {
      const admitted = await this.admittedOf(batch);
      if (admitted.size > 0) return admitted;
      await pause(lookEveryMs);
    }
    return undefined;
  }

  private async admittedOf(batch: Waiting[]): Promise<Map<string, Admitted>> {
    const rows = await this.database
      .read<Extract<Admitted, { kind: 'admitted' }>>(
        {
          name: 'admitted_of',
          text: `SELECT 'admitted' AS kind, id AS "runId", stage = 'ready' AS ready, admitted_position AS position
            FROM run WHERE id = ANY($1::uuid[])`,
        },
        [batch.map((each) => each.admission.runId)],
      )
      .catch(() => []);
    return new Map(rows.map((row) => [row.runId, row]));
  }

  private async send(batch: Admission[]): Promise<Admitted[]> {
    const items = batch.map(({ body, ...item }) => ({ ...item, ...('storedAs' in body && body) }));
    const bodies = batch.map(({ body }) => payloadColumns(body)[0]);
    const [row] = await this.database.write<{ results: Admitted[] }>(statement, [
      JSON.stringify(items),
      bodies,
    ]);
    return row?.results ?? [];
  }
}

/**
 * Takes the head of the line, one use of a key at a time: whether a second use is a retry shows only when
 * the first was not refused.
 */
function takeBatch(line: Waiting[]): Waiting[] {
  const batch = new Set<Waiting>();
  const keys = new Set<string>();
  let bytes = 0;
  for (const waiting of line) {
    const { key, body } = waiting.admission;
    if (key !== undefined && keys.has(key)) continue;
    bytes += 'storedAs' in body ? 0 : body.byteLength;
    if (batch.size === batchRows || (batch.size > 0 && bytes > batchBytes)) break;
    if (key !== undefined) keys.add(key);
    batch.add(waiting);
  }
  let left = 0;
  for (const waiting of line) {
    if (batch.has(waiting)) continue;
    line[left] = waiting;
    left += 1;
  }
  line.length = left;
  return [...batch];
}
