import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';
import type { OperatorAttempt } from '#schemas';
import { jsonText } from './run-facts.js';

/** A provider call that did not simply succeed. */
export interface Attempt {
  provider: string;
  phase: OperatorAttempt['phase'];
  /** The HTTP status of the reply, if there was one. */
  status?: number | undefined;
  class: string;
  retry?: OperatorAttempt['retry'];
  /** Its meaning, in one sentence. */
  reading: string;
  /** The provider's own id of the call. */
  requestId?: string | undefined;
  /** The beginning of the reply, redacted. */
  reply?: string | undefined;
}

/** Equal consecutive attempts, as they are noted. */
export interface NotedAttempt extends Attempt {
  count: number;
  /** How long ago the first and the last one ended, in milliseconds. */
  firstAgoMs: number;
  lastAgoMs: number;
}

/** Equal consecutive attempts, as they are kept. Times are ISO 8601. */
export interface KeptAttempt extends Attempt {
  at: string;
  lastAt: string;
  count: number;
}

/** The attempts of a run: the first ten and the last ten, and the number of calls between these. */
export interface RunAttempts {
  attempts: KeptAttempt[];
  leftOut: number;
}

/** The newest attempt of a run, as an example of what a provider does. */
export interface AttemptExample {
  runId: string;
  attempt: KeptAttempt;
}

interface NotedRun {
  runId: string;
  attempts: readonly NotedAttempt[];
  leftOut: number;
}

/** Larger inputs are in the asset store. */
const maxInputBytes = 256 * 1024;

/** The provider calls of runs that did not simply succeed, for operators only. They are deleted when its result expires. */
@Injectable()
export class AttemptRepository {
  constructor(private readonly database: Database) {}

  /** Adds attempts to runs. Runs that no longer exist are ignored. */
  async note(runs: readonly NotedRun[]): Promise<void> {
    await this.database.work.query('SELECT note_attempts($1)', [jsonText(runs)]);
  }

  /** The inputs of runs, by their ids. Those that are in the asset store are left out. */
  async inputsOf(runIds: readonly string[]): Promise<Map<string, Uint8Array>> {
    const rows = await this.database.work.query<{ runId: string; body: Buffer }>(
      `SELECT run_id AS "runId", body FROM unnest($1::uuid[]) AS wanted (id) CROSS JOIN LATERAL (
          SELECT run_id, body FROM payload WHERE run_id = wanted.id AND kind = 'input' LIMIT 1
        ) AS input WHERE octet_length(body) <= $2`,
      [runIds, maxInputBytes],
    );
    return new Map(rows.map(({ runId, body }) => [runId, body]));
  }

  async of(runId: string): Promise<RunAttempts> {
    const [row] = await this.database.list<RunAttempts>(
      operators,
      'SELECT attempts, left_out AS "leftOut" FROM run_attempts WHERE run_id = $1',
      [runId],
    );
    return row ?? { attempts: [], leftOut: 0 };
  }

  /** The newest attempts of a provider, each of another run, newest first. */
  async newestOf(provider: string, limit: number): Promise<AttemptExample[]> {
    return this.database.list<AttemptExample>(
      operators,
      `SELECT run_id AS "runId", attempts -> -1 AS attempt FROM run_attempts
        WHERE provider = $1 ORDER BY noted_at DESC LIMIT $2`,
      [provider, limit],
    );
  }
}
