import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { Database } from './database.js';
import { isApiKey, keyHash, keyPrefix } from './key-format.js';

/** What a credential proves: the workspace, what it may see and run, and what the credential itself is good for. */
export interface CallerRow {
  workspaceId: string;
  workspaceName: string;
  enabled: boolean;
  visible: string[];
  runnable: string[];
  scopes: string[];
  keyId: string | null;
}

const workspaceColumns = `workspace.id AS "workspaceId", workspace.name AS "workspaceName", workspace.enabled,
  workspace.visible, workspace.runnable`;

/** Finds who calls. */
@Injectable()
export class ApiKeyRepository {
  constructor(private readonly database: Database) {}

  /** Null for a malformed, unknown, revoked or expired key: the caller learns no difference. */
  async byApiKey(key: string): Promise<CallerRow | null> {
    if (!isApiKey(key)) return null;
    const [row] = await this.database.read<CallerRow & { hash: Buffer }>(
      {
        name: 'caller_by_api_key',
        text: `SELECT ${workspaceColumns}, api_key.scopes, api_key.id AS "keyId", api_key.hash
          FROM api_key JOIN workspace ON workspace.id = api_key.workspace_id
          WHERE api_key.prefix = $1 AND api_key.revoked_at IS NULL
            AND (api_key.expires_at IS NULL OR api_key.expires_at > router_now())`,
      },
      [keyPrefix(key)],
    );
    if (!row || !timingSafeEqual(row.hash, keyHash(key))) return null;
    const { hash: _hash, ...caller } = row;
    return caller;
  }

  /** The workspace an access token names; its scopes come from the token. */
  async byWorkspace(workspaceId: string): Promise<Omit<CallerRow, 'scopes' | 'keyId'> | null> {
    const [row] = await this.database.read<CallerRow & Record<string, unknown>>(
      { name: 'caller_by_workspace', text: `SELECT ${workspaceColumns} FROM workspace WHERE id = $1` },
      [workspaceId],
    );
    return row ?? null;
  }
}
