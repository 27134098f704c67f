import { isUuid, maxTags, type Tags } from '#schemas';
import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { v7 } from 'uuid';
import { Database, operators, type Transaction } from './database.js';
import type { ApiKey, Workspace } from './entities/workspace.entity.js';
import { isApiKey, keyHash, keyPrefix, newApiKey } from './key-format.js';
import { newestFirst, newestId } from './newest-first.js';
import { orUnknownWorkspace } from './sql-errors.js';

/**
 * An authenticated caller: the workspace, the models it may see and run, what its runs must name, and the scopes of the
 * credential.
 */
export interface CallerRow extends Pick<
  Workspace,
  'enabled' | 'visible' | 'runnable' | 'allowProviderTools' | 'requiredTags' | 'requiresUser'
> {
  workspaceId: string;
  workspaceName: string;
  scopes: string[];
  keyId: string | null;
  /** The tags that every run of the key gets. Null if there are none. */
  tags: Tags | null;
  /** The workspace's own keys of providers: the current versions, by provider. */
  ownKeys: Record<string, string>;
}

/**
 * A caller with a key. `remainingMs` is the time until the key or one of its makers expires, by the
 * database's clock; null if none of them expires.
 */
export interface KeyCaller extends CallerRow {
  remainingMs: number | null;
}

/** A code opens a console session. A session is the key of a person's browser. */
export const keyKinds = ['key', 'code', 'session'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** A key as it may be shown: nothing here helps to guess its text. */
export interface KeyRow extends Omit<ApiKey, 'hash' | 'oneTime' | 'sessionUntil'> {
  kind: KeyKind;
  /** The state by the database's clock. A key also counts as revoked or expired if its maker is. */
  state: 'live' | 'revoked' | 'expired';
}

/**
 * The maker of a key. Without a key and a subject the maker is an operator, and the new key belongs to the
 * workspace.
 */
export interface KeyMaker {
  /** As written to `operator_action`. */
  actor: string;
  keyId?: string | null;
  /** The subject and expiry of the caller's access token. */
  token?: { subject: string; expiresAt: Date } | null;
}

/** How long the code of a usual sign-in link works. */
const codeSeconds = 15 * 60;

/** Maximum number of live keys, codes and sessions of a workspace. */
export const maxLiveKeys = 1_000;
/** Maximum number of keys that the callers of a workspace may make in 24 hours. */
export const maxKeysADay = 1_000;
/**
 * A key with this many makers cannot make another one, because every authentication walks the chain of
 * makers.
 */
const maxMakers = 8;

type KeyRefusal =
  | 'caller_ended'
  | 'too_many_makers'
  | 'contradicts_tags'
  | 'too_many_tags'
  | 'outlives_maker'
  | 'not_made_by_caller'
  | 'too_many_a_day'
  | 'too_many';

/** Thrown when a key is not made. */
export class KeyRefused extends Error {
  constructor(readonly reason: KeyRefusal) {
    super(
      reason === 'too_many'
        ? `The workspace already has the maximum of ${maxLiveKeys} keys. Revoke some first.`
        : `The key was not made: ${reason}.`,
    );
    this.name = 'KeyRefused';
  }
}

const workspaceColumns = `workspace.id AS "workspaceId", workspace.name AS "workspaceName", workspace.enabled,
  workspace.visible, workspace.runnable, allow_provider_tools AS "allowProviderTools", required_tags AS "requiredTags", requires_user AS "requiresUser", (
    SELECT coalesce(jsonb_object_agg(provider, own_key.id), '{}') FROM own_key
    WHERE own_key.workspace_id = workspace.id AND ended_at IS NULL
  ) AS "ownKeys"`;

const keyColumns = `api_key.id, workspace_id AS "workspaceId", name, prefix, scopes, tags, made_by AS "madeBy",
  made_by_subject AS "madeBySubject", last_used_at AS "lastUsedAt", rotated_to AS "rotatedTo", first_id AS "firstId", created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt",
  CASE WHEN one_time THEN 'code' WHEN session_until IS NOT NULL THEN 'session' ELSE 'key' END AS kind`;

/** A new key is always live. */
const newKeyColumns = `${keyColumns}, 'live' AS state`;

const listColumns = `${keyColumns},
  CASE WHEN ends = '-infinity' THEN 'revoked' WHEN ends <= router_now() THEN 'expired' ELSE 'live' END AS state`;

const isOfKind: Record<KeyKind, string> = {
  key: 'session_until IS NULL AND NOT one_time',
  code: 'one_time',
  session: 'session_until IS NOT NULL AND NOT one_time',
};

export type NewKeyFacts = Pick<KeyRow, 'name' | 'scopes' | 'expiresAt'> & { tags?: Tags | undefined };

/** A new sign-in link. */
export interface NewCode {
  code: string;
  row: KeyRow;
  expiresAt: Date;
}

interface Making {
  /** Makes the code of a sign-in link in place of a key. */
  isCode?: boolean;
  /** How long a code works. */
  lifetimeSeconds?: number | undefined;
  /** Makes the key in this transaction. */
  transaction?: Transaction | undefined;
}

/** The keys of workspaces, and the callers that use them. */
@Injectable()
export class ApiKeyRepository {
  constructor(private readonly database: Database) {}

  /** Null for a malformed, unknown, revoked or expired key. The caller cannot tell these apart. */
  async byApiKey(key: string): Promise<KeyCaller | null> {
    if (!isApiKey(key)) return null;
    const [row] = await this.database.reads.query<KeyCaller & { hash: Buffer }>(
      `SELECT ${workspaceColumns}, api_key.scopes, api_key.tags, api_key.id AS "keyId", api_key.hash,
          (extract(epoch FROM nullif(ends, 'infinity') - router_now()) * 1000)::float8 AS "remainingMs"
        FROM api_key JOIN workspace ON workspace.id = api_key.workspace_id CROSS JOIN LATERAL key_end(api_key.id) AS ends
        WHERE api_key.prefix = $1 AND NOT api_key.one_time AND ends > router_now()`,
      [keyPrefix(key)],
    );
    if (!row || !timingSafeEqual(row.hash, keyHash(key))) return null;
    const { hash: _hash, ...caller } = row;
    return caller;
  }

  /** The workspace named by an access token. The scopes come from the token itself. */
  async byWorkspace(workspaceId: string): Promise<Omit<CallerRow, 'scopes' | 'keyId' | 'tags'> | null> {
    const [row] = await this.database.reads.query<CallerRow>(
      `SELECT ${workspaceColumns} FROM workspace WHERE id = $1`,
      [workspaceId],
    );
    return row ?? null;
  }

  /**
   * Whether the workspace is enabled. Null if the workspace was deleted, or if the given key is no longer
   * live.
   */
  async isEnabled(workspaceId: string, keyId: string | null): Promise<boolean | null> {
    const [row] = await this.database.reads.query<{ enabled: boolean }>(
      `SELECT enabled FROM workspace WHERE id = $1 AND ($2::uuid IS NULL OR EXISTS (
          SELECT FROM api_key WHERE id = $2 AND workspace_id = $1 AND NOT one_time AND key_end(id) > router_now()))`,
      [workspaceId, keyId],
    );
    return row?.enabled ?? null;
  }

  /**
   * Makes a key. Its text is returned once and never stored. A key without an expiry gets that of its maker,
   * if the maker has one. Throws `KeyRefused` and `UnknownWorkspace`.
   */
  async create(
    workspaceId: string,
    { name, scopes, expiresAt, tags }: NewKeyFacts,
    { actor, keyId = null, token = null }: KeyMaker,
    { isCode = false, lifetimeSeconds = codeSeconds, transaction }: Making = {},
  ): Promise<{ key: string; row: KeyRow }> {
    const key = newApiKey();
    const making = (transaction ?? this.database.work).query<KeyRow & { refused: KeyRefusal | null }>(
      `SELECT refused, ${newKeyColumns}
        FROM make_key($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) AS answer,
          LATERAL (SELECT (answer.made).*) AS api_key`,
      [
        v7(),
        workspaceId,
        name,
        keyPrefix(key),
        keyHash(key),
        scopes,
        expiresAt,
        isCode,
        keyId,
        token?.subject ?? null,
        token?.expiresAt ?? null,
        actor,
        maxLiveKeys,
        maxKeysADay,
        maxMakers,
        lifetimeSeconds,
        tags ? JSON.stringify(tags) : null,
        maxTags,
      ],
    );
    // `make_key` checks the maker first, so a missing row is the workspace's.
    const [made] = await orUnknownWorkspace(workspaceId, making);
    if (!made) throw new Error('the new key was not returned');
    const { refused, ...row } = made;
    if (refused !== null) throw new KeyRefused(refused);
    return { key, row };
  }

  /**
   * Makes a code that `exchange` turns into the key of a console session with these scopes. The code works
   * once, by default for 15 minutes. The session ends 12 hours after its code was made (after it was used, if the code
   * works for longer), or when its maker does. Throws `KeyRefused` and `UnknownWorkspace`.
   */
  async createCode(
    workspaceId: string,
    scopes: string[],
    maker: KeyMaker,
    { name = 'sign-in', ...making }: Omit<Making, 'isCode'> & { name?: string } = {},
  ): Promise<NewCode> {
    const made = { name, scopes, expiresAt: null };
    const { key, row } = await this.create(workspaceId, made, maker, { ...making, isCode: true });
    if (row.expiresAt === null) throw new Error('the new code has no expiry');
    return { code: key, row, expiresAt: row.expiresAt };
  }

  /**
   * Whether the text is a code that can be exchanged now. It only reads, so unauthenticated callers may use
   * it.
   */
  async isCode(text: string): Promise<boolean> {
    if (!isApiKey(text)) return false;
    const found = await this.database.reads.query(
      `SELECT 1 FROM api_key CROSS JOIN LATERAL key_end(id) AS ends
        WHERE prefix = $1 AND hash = $2 AND one_time AND ends > router_now()`,
      [keyPrefix(text), keyHash(text)],
    );
    return found.length > 0;
  }

  /**
   * Turns the row of the code into that of the session, so only one of two exchanges succeeds. Null for an
   * unusable code.
   */
  async exchange(code: string): Promise<{ key: string; row: KeyRow } | null> {
    if (!isApiKey(code)) return null;
    const key = newApiKey();
    const [row] = await this.database.work.query<KeyRow>(
      // A code without a session end, made by an old release, counts as one without a limit.
      `WITH used AS (
          UPDATE api_key SET prefix = $3, hash = $4, one_time = false,
            session_until = least(session_until, router_now() + interval '12 hours'),
            expires_at = least(session_until, router_now() + interval '12 hours')
          WHERE prefix = $1 AND hash = $2 AND one_time AND revoked_at IS NULL AND expires_at > router_now()
            AND key_end(id) > router_now()
          RETURNING *
        ), recorded AS (
          SELECT record_key_action('key:' || used.id, 'sign_in.use', used::api_key) FROM used
        )
        SELECT ${newKeyColumns} FROM used AS api_key, recorded`,
      [keyPrefix(code), keyHash(code), keyPrefix(key), keyHash(key)],
    );
    return row ? { key, row } : null;
  }

  /** Lists keys of one workspace, or of all, newest first, starting after the id `after`. */
  async list(
    { workspaceId = null, kind }: { workspaceId?: string | null; kind?: KeyKind | undefined },
    { after = newestId, limit }: { after?: string | undefined; limit: number },
  ): Promise<KeyRow[]> {
    const { where, orderBy } = newestFirst('id', workspaceId);
    return this.database.list<KeyRow>(
      workspaceId ?? operators,
      `SELECT ${listColumns} FROM (
          SELECT * FROM api_key WHERE ${where} AND ${kind === undefined ? 'true' : isOfKind[kind]}
          ORDER BY ${orderBy} LIMIT $3
        ) AS api_key CROSS JOIN LATERAL key_end(id) AS ends ORDER BY id DESC`,
      [workspaceId, after, limit],
    );
  }

  /** Finds a key by its id or prefix. */
  async find(idOrPrefix: string): Promise<KeyRow | null> {
    const [row] = await this.database.list<KeyRow>(
      operators,
      `SELECT ${listColumns} FROM api_key CROSS JOIN LATERAL key_end(id) AS ends WHERE id = $1 OR prefix = $2`,
      idOrPrefixValues(idOrPrefix),
    );
    return row ?? null;
  }

  /**
   * Makes a copy of a live key with a new text. The old key works for `keepSeconds` more, but not past its
   * own expiry; 0 revokes it. Keys that the old one made belong to the new one. Null for a session, and for a
   * key that is not live. Throws `KeyRefused` for a caller, who rotates only keys that end with its own maker.
   */
  async rotate(
    id: string,
    keepSeconds: number,
    { actor, keyId = null, token = null }: KeyMaker,
  ): Promise<{ key: string; row: KeyRow; oldEndsAt: Date } | null> {
    const key = newApiKey();
    const [made] = await this.database.work.query<KeyRow & { oldEndsAt: Date; refused: KeyRefusal | null }>(
      `SELECT refused, old_ends AS "oldEndsAt", ${newKeyColumns}
        FROM rotate_key($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS rotated, LATERAL (SELECT (rotated.made).*) AS api_key`,
      [
        id,
        v7(),
        keyPrefix(key),
        keyHash(key),
        keepSeconds,
        actor,
        keyId,
        token?.subject ?? null,
        maxLiveKeys,
        maxKeysADay,
      ],
    );
    if (!made) return null;
    const { oldEndsAt, refused, ...row } = made;
    if (refused !== null) throw new KeyRefused(refused);
    return { key, row, oldEndsAt };
  }

  /** Notes that these keys were used just now. Keys that another gateway has just noted are left as they are. */
  async noteUse(ids: readonly string[]): Promise<void> {
    await this.database.work.query(
      `UPDATE api_key SET last_used_at = router_now() FROM (
          SELECT id FROM api_key WHERE id = ANY ($1::uuid[])
            AND (last_used_at IS NULL OR last_used_at < router_now() - interval '50 seconds')
          FOR NO KEY UPDATE SKIP LOCKED
        ) AS used WHERE api_key.id = used.id`,
      [ids],
    );
  }

  /**
   * Revokes a key, found by id or prefix, and every key made by it. Returns the number of keys that ended: 0
   * if the key was already revoked. Null if there is no such key.
   */
  async revoke(idOrPrefix: string, actor: string): Promise<{ ended: number } | null> {
    const [row] = await this.database.work.query<{ ended: number }>(
      'SELECT revoke_keys(ARRAY[id], $3) AS ended FROM api_key WHERE id = $1 OR prefix = $2',
      [...idOrPrefixValues(idOrPrefix), actor],
    );
    return row ?? null;
  }

  /**
   * The same for a caller, who revokes its own key, and otherwise only keys that end with its own maker. Null also if the
   * key is not in the given workspace. Throws `KeyRefused`.
   */
  async revokeAs(
    id: string,
    workspaceId: string,
    { actor, keyId = null }: KeyMaker,
  ): Promise<{ ended: number } | null> {
    const [row] = await this.database.work.query<{ ended: number; refused: KeyRefusal | null }>(
      `SELECT revoked.* FROM api_key, revoke_key(id, $3, $4) AS revoked WHERE id = $1 AND workspace_id = $2`,
      [id, workspaceId, actor, keyId],
    );
    if (!row) return null;
    const { ended, refused } = row;
    if (refused !== null) throw new KeyRefused(refused);
    return { ended };
  }

  /** Revokes the keys that a person's access tokens made in a workspace, and every key made by those. */
  async revokeMadeBySubject(workspaceId: string, subject: string, actor: string): Promise<{ ended: number }> {
    const [row] = await this.database.work.query<{ ended: number }>(
      `SELECT coalesce(revoke_keys(array_agg(id), $3), 0) AS ended FROM api_key
        WHERE workspace_id = $1 AND made_by_subject = $2`,
      [workspaceId, subject, actor],
    );
    return { ended: row?.ended ?? 0 };
  }
}

const idOrPrefixValues = (idOrPrefix: string): [string | null, string] => [
  isUuid(idOrPrefix) ? idOrPrefix : null,
  idOrPrefix,
];
