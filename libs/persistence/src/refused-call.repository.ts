import type { Bucket } from '#errors';
import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';
import { newestFirst, newestId } from './newest-first.js';
import { jsonText } from './run-facts.js';

/** A field that the model does not accept, and the kind of its problem, as the answer named them. */
interface RefusedField {
  name: string;
  type: string;
}

interface Refused {
  callId: string;
  workspaceId: string;
  route: string;
  /** As in the router's own answers; a vendor endpoint may answer with another one. */
  status: number;
  bucket: Bucket;
  detail: string;
  fields: readonly RefusedField[];
}

/** A call for a run that was refused before it had one. */
export interface NotedRefusal extends Refused {
  model: string | undefined;
  /** How long ago, in milliseconds. */
  agoMs: number;
}

/** The same as it is kept. */
export interface RefusedCall extends Refused {
  workspace: string;
  model: string | null;
  at: Date;
}

interface Page {
  after?: string | undefined;
  limit: number;
}

/** The number of refused calls that a workspace keeps. */
export const maxRefusedCalls = 1_000;

const columns = `call_id AS "callId", workspace_id AS "workspaceId", workspace.name AS workspace, refused_call.at, route,
  status, bucket, model, detail, fields FROM refused_call JOIN workspace ON workspace.id = workspace_id`;

/** Refused calls, which have no other row. Retention deletes them after a day. */
@Injectable()
export class RefusedCallRepository {
  constructor(private readonly database: Database) {}

  /** Adds calls, then deletes those of their workspaces that are too many, oldest first. */
  async note(noted: readonly NotedRefusal[]): Promise<void> {
    await this.database.work.query(
      `INSERT INTO refused_call (call_id, workspace_id, at, route, status, bucket, model, detail, fields)
        SELECT "callId", "workspaceId", router_now() - "agoMs" * interval '1 millisecond', route, status, bucket, model, detail,
          fields
        FROM jsonb_to_recordset($1) AS one ("callId" uuid, "workspaceId" uuid, "agoMs" double precision, route text,
          status integer, bucket text, model text, detail text, fields jsonb)
        -- A statement whose answer was lost is repeated.
        ON CONFLICT DO NOTHING`,
      [jsonText(noted)],
    );
    // A statement of its own, because it has to see the new rows, also those of other gateways.
    await this.database.work.query(
      `WITH older AS MATERIALIZED (
          SELECT older.call_id FROM unnest($1::uuid[]) AS space (id) CROSS JOIN LATERAL (
            SELECT call_id FROM refused_call WHERE workspace_id = space.id AND call_id <= (
              SELECT call_id FROM refused_call WHERE workspace_id = space.id ORDER BY call_id DESC OFFSET $2 LIMIT 1
            )
            -- Another gateway may be deleting the same rows.
            FOR UPDATE SKIP LOCKED
          ) AS older
        )
        DELETE FROM refused_call WHERE call_id IN (SELECT call_id FROM older)`,
      [[...new Set(noted.map(({ workspaceId }) => workspaceId))], maxRefusedCalls],
    );
  }

  /** Lists calls of a workspace, newest first, starting after the id `after`; or only the call with an id. */
  async page(
    workspaceId: string,
    callId: string | undefined,
    { after = newestId, limit }: Page,
  ): Promise<RefusedCall[]> {
    const { where, orderBy } = newestFirst('call_id', workspaceId);
    return this.database.list<RefusedCall>(
      workspaceId,
      `SELECT ${columns} WHERE ${where} AND ($3::uuid IS NULL OR call_id = $3) ORDER BY ${orderBy} LIMIT $4`,
      [workspaceId, after, callId ?? null, limit],
    );
  }

  /** The refused call of any workspace with this id. */
  async find(callId: string): Promise<RefusedCall | null> {
    const [found] = await this.database.list<RefusedCall>(operators, `SELECT ${columns} WHERE call_id = $1`, [
      callId,
    ]);
    return found ?? null;
  }
}
