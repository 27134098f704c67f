import type { OperatorActionName } from '#schemas';
import type { EntityManager } from 'typeorm';
import { type Database, operators } from './database.js';
import { OperatorAction } from './entities/operations.entity.js';

/** A change by an operator, for statements that do not record it themselves. */
export interface Action {
  actor: string;
  action: OperatorActionName;
  subject: string;
  details?: object;
}

/** A change by an operator or by a workspace itself. */
export interface Change {
  at: Date;
  /** Null for a change that the workspace made itself, or that was not recorded. */
  actor: string | null;
  action: string;
  subject: string;
  details: object;
}

/**
 * The changes since a time, oldest first: recorded operators' actions, and changes of API keys and webhook secrets,
 * which workspaces may make themselves, by the times in their rows. A key that an operator made or revoked appears
 * twice.
 */
export async function changesSince(database: Database, since: Date, limit: number): Promise<Change[]> {
  return database.list<Change>(
    operators,
    `SELECT at, actor, action, subject, details FROM operator_action WHERE at >= $1 AND action <> 'backup.record'
      UNION ALL
      SELECT changed.at, NULL, changed.action, prefix, jsonb_build_object('workspace', workspace.name, 'scopes', scopes)
      FROM api_key JOIN workspace ON workspace.id = workspace_id
      CROSS JOIN LATERAL (VALUES (api_key.created_at, 'key.created'), (revoked_at, 'key.revoked')) AS changed (at, action)
      WHERE changed.at >= $1 AND NOT one_time
      UNION ALL
      SELECT webhook_secret_rotated_at, NULL, 'webhook.secret_rotated', name, '{}' FROM workspace
      WHERE webhook_secret_rotated_at >= $1
      ORDER BY at LIMIT $2`,
    [since, limit],
  );
}

export async function recordAction(
  manager: EntityManager,
  { details = {}, ...action }: Action,
): Promise<void> {
  await manager.insert(OperatorAction, { ...action, details });
}
