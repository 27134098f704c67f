import type { SurpriseKind } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';
import { jsonText } from './run-facts.js';

/** Replies of one kind that a provider's declaration does not expect, and the newest of them. */
export interface NotedSurprise {
  provider: string;
  kind: SurpriseKind;
  count: number;
  /** How long ago the newest one arrived, in milliseconds. */
  agoMs: number;
  runId: string;
  detail: string;
  httpStatus?: number | undefined;
  /** The beginning of the reply, redacted. */
  reply?: string | undefined;
}

/** The same as it is kept. */
export interface ProviderSurprise {
  provider: string;
  kind: SurpriseKind;
  count: number;
  firstAt: Date;
  lastAt: Date;
  runId: string;
  /** Null once the run has aged out. */
  model: string | null;
  detail: string;
  httpStatus: number | null;
  reply: string | null;
}

/** One row for each provider and kind, so that the table stays small. Retention deletes rows without news. */
@Injectable()
export class ProviderSurpriseRepository {
  constructor(private readonly database: Database) {}

  /** Adds replies. At most one per provider and kind. */
  async note(noted: readonly NotedSurprise[]): Promise<void> {
    await this.database.work.query(
      `INSERT INTO provider_surprise AS known
          (provider, kind, count, first_at, last_at, run_id, detail, http_status, reply)
        SELECT provider, kind, count, at, at, "runId", coalesce(kept.detail, ''), "httpStatus", kept.reply
        FROM (
          SELECT *, router_now() - "agoMs" * interval '1 millisecond' AS at
          FROM jsonb_to_recordset($1) AS one (provider text, kind text, count bigint, "agoMs" double precision,
            "runId" uuid, detail text, "httpStatus" integer, reply text)
        ) AS one
        -- Nothing is quoted of a run that was deleted. The lock makes a deletion wait for this statement, or the reverse.
        LEFT JOIN LATERAL (SELECT one.detail, one.reply FROM run WHERE run.id = "runId" FOR KEY SHARE) AS kept ON true
        -- Two workers that write several rows lock them in the same order.
        ORDER BY provider, kind
        ON CONFLICT (provider, kind) DO UPDATE SET count = known.count + excluded.count,
          last_at = greatest(known.last_at, excluded.last_at), run_id = excluded.run_id, detail = excluded.detail,
          http_status = excluded.http_status, reply = excluded.reply`,
      [jsonText(noted)],
    );
  }

  /** All of them, newest first. */
  async list(): Promise<ProviderSurprise[]> {
    return this.database.list<ProviderSurprise>(
      operators,
      `SELECT surprise.provider, kind, count::float AS count, first_at AS "firstAt", last_at AS "lastAt",
          run_id AS "runId", run.model, detail, http_status AS "httpStatus", reply
        FROM provider_surprise AS surprise
        LEFT JOIN LATERAL (SELECT model FROM run WHERE run.id = run_id LIMIT 1) AS run ON true
        ORDER BY last_at DESC, kind`,
      [],
    );
  }
}
