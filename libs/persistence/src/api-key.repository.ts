import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { v7 } from 'uuid';
import { Database } from './database.js';
import type { ApiKey } from './entities/api-key.entity.js';
import type { Workspace } from './entities/workspace.entity.js';
import { isApiKey, keyHash, keyPrefix, newApiKey } from './key-format.js';

/** What a credential proves: the workspace, what it may see and run, and what the credential itself is good for. */
export interface CallerRow extends Pick<Workspace, 'enabled' | 'visible' | 'runnable'> {
  workspaceId: string;
  workspaceName: string;
  scopes: string[];
  keyId: string | null;
}

/** A key as it may be shown: nothing here helps to find its text. */
export interface KeyRow extends Omit<ApiKey, 'hash' | 'oneTime'> {
  /** By the database's clock. */
  state: 'live' | 'revoked' | 'expired';
}

const workspaceColumns = `workspace.id AS "workspaceId", workspace.name AS "workspaceName", workspace.enabled,
  workspace.visible, workspace.runnable`;

const keyColumns = `id, workspace_id AS "workspaceId", name, prefix, scopes,
  CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= router_now() THEN 'expired' ELSE 'live' END AS state,
  created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt"`;

/** The keys of workspaces, and who calls with one. */
@Injectable()
export class ApiKeyRepository {
  constructor(private readonly database: Database) {}

  /** Null for a malformed, unknown, revoked or expired key: the caller learns no difference. */
  async byApiKey(key: string): Promise<CallerRow | null> {
    if (!isApiKey(key)) return null;
    const [row] = await this.database.read<CallerRow & { hash: Buffer }>(
      `SELECT ${workspaceColumns}, api_key.scopes, api_key.id AS "keyId", api_key.hash
        FROM api_key JOIN workspace ON workspace.id = api_key.workspace_id
        WHERE api_key.prefix = $1 AND api_key.revoked_at IS NULL AND NOT api_key.one_time
          AND (api_key.expires_at IS NULL OR api_key.expires_at > router_now())`,
      [keyPrefix(key)],
    );
    if (!row || !timingSafeEqual(row.hash, keyHash(key))) return null;
    const { hash: _hash, ...caller } = row;
    return caller;
  }

  /** The workspace an access token names; its scopes come from the token. */
  async byWorkspace(workspaceId: string): Promise<Omit<CallerRow, 'scopes' | 'keyId'> | null> {
    const [row] = await this.database.read<CallerRow>(
      `SELECT ${workspaceColumns} FROM workspace WHERE id = $1`,
      [workspaceId],
    );
    return row ?? null;
  }

  /** The key's text is returned once and stored nowhere. */
  async create(
    workspaceId: string,
    { name, scopes, expiresAt }: Pick<KeyRow, 'name' | 'scopes' | 'expiresAt'>,
  ): Promise<{ key: string; row: KeyRow }> {
    const key = newApiKey();
    const [row] = await this.database.write<KeyRow>(
      `INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${keyColumns}`,
      [v7(), workspaceId, name, keyPrefix(key), keyHash(key), scopes, expiresAt],
    );
    if (!row) throw new Error('the new key was not returned');
    return { key, row };
  }

  /** A code that `exchange` turns into a key with these scopes, once and within minutes. It is good for nothing else. */
  async createCode(workspaceId: string, scopes: string[]): Promise<{ code: string; expiresAt: Date }> {
    const code = newApiKey();
    const [row] = await this.database.write<{ expiresAt: Date }>(
      `WITH unused AS (
          DELETE FROM api_key WHERE workspace_id = $2 AND one_time AND expires_at <= router_now()
        ) INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, expires_at, one_time)
        VALUES ($1, $2, 'sign-in', $3, $4, $5, router_now() + interval '15 minutes', true)
        RETURNING expires_at AS "expiresAt"`,
      [v7(), workspaceId, keyPrefix(code), keyHash(code), scopes],
    );
    if (!row) throw new Error('the new code was not returned');
    return { code, ...row };
  }

  /** The row of the code becomes that of a key, so of two exchanges one wins. Null for a code that is not usable. */
  async exchange(code: string): Promise<{ key: string; row: KeyRow } | null> {
    if (!isApiKey(code)) return null;
    const key = newApiKey();
    const [row] = await this.database.write<KeyRow>(
      `UPDATE api_key SET prefix = $3, hash = $4, one_time = false, expires_at = router_now() + interval '12 hours'
        WHERE prefix = $1 AND hash = $2 AND one_time AND revoked_at IS NULL AND expires_at > router_now()
        RETURNING ${keyColumns}`,
      [keyPrefix(code), keyHash(code), keyPrefix(key), keyHash(key)],
    );
    return row ? { key, row } : null;
  }

  /** The keys of one workspace, or all, oldest first. */
  async list(workspaceId?: string): Promise<KeyRow[]> {
    return this.database.read<KeyRow>(
      `SELECT ${keyColumns} FROM api_key
        WHERE ($1::uuid IS NULL OR workspace_id = $1) AND NOT one_time ORDER BY created_at, id`,
      [workspaceId ?? null],
    );
  }

  /** It works for so many seconds yet, and no longer than it would have; 0 revokes it. Answers when it ends. */
  async end(id: string, afterSeconds: number): Promise<Date> {
    const [row] = await this.database.write<{ endsAt: Date }>(
      `UPDATE api_key SET expires_at = least(expires_at, router_now() + make_interval(secs => $2)),
          revoked_at = CASE WHEN $2 = 0 THEN router_now() ELSE revoked_at END
        WHERE id = $1 RETURNING expires_at AS "endsAt"`,
      [id, afterSeconds],
    );
    if (!row) throw new Error('the key is gone');
    return row.endsAt;
  }

  /** By id or prefix, of one workspace or of any; `revoked` is false for a key that was no longer live. */
  async revoke(idOrPrefix: string, workspaceId?: string): Promise<{ revoked: boolean } | null> {
    const [row] = await this.database.write<{ revoked: boolean }>(
      `WITH found AS (
          SELECT id FROM api_key
          WHERE (id::text = $1 OR prefix = $1) AND ($2::uuid IS NULL OR workspace_id = $2)
        ), revoked AS (
          UPDATE api_key SET revoked_at = router_now() FROM found
          WHERE api_key.id = found.id AND revoked_at IS NULL RETURNING api_key.id
        ) SELECT EXISTS (SELECT FROM revoked) AS revoked FROM found`,
      [idOrPrefix, workspaceId ?? null],
    );
    return row ?? null;
  }
}
