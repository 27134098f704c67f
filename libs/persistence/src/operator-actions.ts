import type { Database } from './database.js';
import { operators } from './list-turns.js';

/** Who changed what, for those changes that no statement of their own records. */
interface Action {
  actor: string;
  /** Such as `key.revoke`. */
  action: string;
  subject: string;
  details?: object;
}

/** One change, by whomever it was made. */
export interface Change {
  at: Date;
  /** Null for a change that a workspace made itself, or that has no record. */
  actor: string | null;
  action: string;
  subject: string;
  details: object;
}

/**
 * The changes since then, oldest first: the recorded changes of operators, then API keys by the times in their rows
 * and webhook secrets, which workspaces may change themselves. A key that an operator made or revoked is in both.
 */
export async function changesSince(database: Database, since: Date, limit: number): Promise<Change[]> {
  return database.list<Change>(operators, {
    text: `SELECT at, actor, action, subject, details FROM operator_action WHERE at >= $1
      UNION ALL
      SELECT changed.at, NULL, changed.action, prefix, jsonb_build_object('workspace', workspace.name, 'scopes', scopes)
      FROM api_key JOIN workspace ON workspace.id = workspace_id
      CROSS JOIN LATERAL (VALUES (api_key.created_at, 'key.created'), (revoked_at, 'key.revoked')) AS changed (at, action)
      WHERE changed.at >= $1 AND NOT one_time
      UNION ALL
      SELECT webhook_secret_rotated_at, NULL, 'webhook.secret_rotated', name, '{}' FROM workspace
      WHERE webhook_secret_rotated_at >= $1
      ORDER BY at LIMIT $2`,
    values: [since, limit],
  });
}

export async function recordOperatorAction(
  database: Database,
  { actor, action, subject, details = {} }: Action,
): Promise<void> {
  await database.write(
    'INSERT INTO operator_action (actor, action, subject, details) VALUES ($1, $2, $3, $4)',
    [actor, action, subject, details],
  );
}
