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

/** One batch: a call for each of its workspaces, in the order of their ids. */
const statement = {
  name: 'admit',
  text: `SELECT admit(space_id, runs, ($3::bytea[])[first : first + jsonb_array_length(runs) - 1], $5::boolean) AS results
    FROM unnest($1::uuid[], $2::jsonb[], $4::integer[]) AS each (space_id, runs, first)`,
};

/** Bounds of one batch, so that a slow or large neighbour cannot hold the workspace row for long. */
const batchRows = 50;
const batchBytes = 4 * 1024 * 1024;

interface Waiting {
  admission: Admission;
  resolve: (result: Admitted) => void;
  reject: (error: unknown) => void;
}

/**
 * Admits runs in one round trip each. What arrives while a call is under way travels together in the next, so a busy
 * gateway commits once a batch and not once a run. A workspace whose row is locked when its turn comes gets a line of its
 * own, which waits for that row: it holds up nobody else.
 */
@Injectable()
export class AdmissionRepository {
  private readonly shared: Waiting[] = [];
  private readonly own = new Map<string, Waiting[]>();
  private isSharing = false;

  constructor(private readonly database: Database) {}

  admit(admission: Admission): Promise<Admitted> {
    return new Promise((resolve, reject) => {
      const line = this.own.get(admission.workspaceId) ?? this.shared;
      line.push({ admission, resolve, reject });
      if (line === this.shared && !this.isSharing) void this.drainShared();
    });
  }

  private async drainShared(): Promise<void> {
    this.isSharing = true;
    // Who has just been answered may come again before this goes on.
    while (this.shared.length > 0) await this.drain(this.shared, false);
    this.isSharing = false;
  }

  /** With those of the same workspace that have arrived meanwhile. */
  private joinOwn(workspaceId: string, locked: Waiting[]): void {
    const isHere = (each: Waiting) => each.admission.workspaceId === workspaceId;
    const here = [...locked, ...this.shared.filter(isHere)];
    this.shared.splice(0, Infinity, ...this.shared.filter((each) => !isHere(each)));
    const line = this.own.get(workspaceId);
    if (line) line.push(...here);
    else void this.drainOwn(workspaceId, here);
  }

  private async drainOwn(workspaceId: string, line: Waiting[]): Promise<void> {
    this.own.set(workspaceId, line);
    while (line.length > 0) await this.drain(line, true);
    this.own.delete(workspaceId);
  }

  private async drain(line: Waiting[], waits: boolean): Promise<void> {
    while (line.length > 0) {
      const batch = takeBatch(line);
      try {
        await this.settle(batch, waits);
      } catch (error) {
        if (error instanceof RouterError) {
          // Those in line would fail the same way, each batch after a time-out of its own: all of them fail now.
          const unsent = new RouterError(error.bucket, error.publicDetail, { cause: error });
          for (const each of batch) each.reject(error);
          for (const each of line.splice(0)) each.reject(unsent);
        } else {
          // Something is wrong with one of them: each alone, so that it fails alone.
          await Promise.all(batch.map((each) => this.settle([each], waits).catch(each.reject)));
        }
      }
    }
  }

  private async settle(batch: Waiting[], waits: boolean): Promise<void> {
    await failpoint('admit.beforeCommit');
    try {
      const groups = byWorkspace(batch);
      const results = await this.send(groups, waits);
      await failpoint('admit.afterCommit');
      for (const [index, [workspaceId, group]] of groups.entries()) {
        const admitted = results[index];
        if (admitted) group.forEach((each, nth) => each.resolve(admitted[nth] as Admitted));
        else this.joinOwn(workspaceId, group);
      }
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

  /** By workspace: null for one whose row is locked, when the call does not wait for it. */
  private async send(groups: [string, Waiting[]][], waits: boolean): Promise<(Admitted[] | null)[]> {
    const runs = groups.map(([, group]) =>
      JSON.stringify(
        group.map(({ admission: { body, ...run } }) => ({
          ...run,
          ...('storedAs' in body && body),
        })),
      ),
    );
    const bodies = groups.flatMap(([, group]) =>
      group.map(({ admission }) => payloadColumns(admission.body)[0]),
    );
    let first = 1;
    const firsts = groups.map(([, group]) => (first += group.length) - group.length);
    const rows = await this.database.write<{ results: Admitted[] | null }>(statement, [
      groups.map(([workspaceId]) => workspaceId),
      runs,
      bodies,
      firsts,
      waits,
    ]);
    return rows.map(({ results }) => results);
  }
}

/** In the order of their ids, so that two gateways lock them in the same order. */
function byWorkspace(batch: Waiting[]): [string, Waiting[]][] {
  const groups = new Map<string, Waiting[]>();
  for (const each of batch) {
    const group = groups.get(each.admission.workspaceId);
    if (group) group.push(each);
    else groups.set(each.admission.workspaceId, [each]);
  }
  return [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Takes the head of the line. */
function takeBatch(line: Waiting[]): Waiting[] {
  let rows = 0;
  let bytes = 0;
  for (const { admission } of line) {
    bytes += 'storedAs' in admission.body ? 0 : admission.body.byteLength;
    if (rows === batchRows || (rows > 0 && bytes > batchBytes)) break;
    rows += 1;
  }
  return line.splice(0, rows);
}
