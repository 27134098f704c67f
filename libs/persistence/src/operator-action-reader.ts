import { isOneLine, isUuid, type OperatorActionName, type OperatorActionView } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';

/** Selects actions. An absent member accepts all. */
export interface OperatorActionFilter {
  /** A part of the actor, case-insensitive. */
  actor?: string | undefined;
  action?: OperatorActionName | undefined;
  /** The whole subject, or the prefix of a key. */
  subject?: string | undefined;
  /** The name or the id of a workspace, which may be deleted. */
  workspace?: string | undefined;
  /** Taken at or after `since` and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Actions that concern a workspace name it in their details or as their subject. */
const workspaceName = `coalesce(details ->> 'workspace',
  CASE WHEN action LIKE 'workspace.%' OR action = 'webhook.rotate_secret' THEN subject END)`;

/** The name of workspace `$5`, which is a name already or the id `$6`. */
const wantedName = `coalesce((SELECT name FROM workspace WHERE id = $6::text::uuid),
  (SELECT subject FROM operator_action WHERE action = 'workspace.delete' AND details ->> 'id' = $6::text LIMIT 1), $5::text)`;

/** Reads the recorded actions of operators. These queries may be slow, so they use the connections of lists. */
@Injectable()
export class OperatorActionReader {
  constructor(private readonly database: Database) {}

  /** Lists actions, newest first, starting after the place of another action. */
  async page(
    { actor, action, subject, workspace, since, until }: OperatorActionFilter,
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<OperatorActionView[]> {
    // Postgres rejects parameters with such characters. No record contains one.
    if (![actor, subject, workspace].every((text) => text === undefined || isOneLine(text))) return [];
    const [afterAt, afterId] = after?.split(' ') ?? [];
    const rows = await this.database.list<OperatorActionView & { workspace: string | null }>(
      operators,
      `SELECT id::text AS id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, actor, action,
          subject, ${workspaceName} AS workspace, details
        FROM operator_action
        WHERE ($1::text IS NULL OR strpos(lower(actor), lower($1)) > 0) AND ($2::text IS NULL OR action = $2)
          AND ($3::text IS NULL OR subject = ANY (ARRAY[$3, (SELECT id::text FROM api_key WHERE prefix = $3)]))
          AND ($4::boolean OR ${workspaceName} = ${wantedName})
          AND at >= coalesce($7::timestamptz, '-infinity') AND at < coalesce($8::timestamptz, 'infinity')
          AND (at, id) < (coalesce($9::timestamptz, 'infinity'), coalesce($10::bigint, 0))
        ORDER BY operator_action.at DESC, operator_action.id DESC LIMIT $11`,
      [
        actor,
        action,
        subject,
        workspace === undefined,
        workspace,
        workspace !== undefined && isUuid(workspace) ? workspace.toLowerCase() : null,
        since,
        until,
        afterAt,
        afterId,
        limit,
      ],
    );
    return rows.map(({ workspace: name, ...row }) => ({ ...row, ...(name !== null && { workspace: name }) }));
  }
}

/** The place of an action in the list. */
export const placeOfAction = ({ at, id }: OperatorActionView): string => `${at} ${id}`;
