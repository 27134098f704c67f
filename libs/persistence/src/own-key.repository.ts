import type { Envelope, OperatorActionName } from '#schemas';
import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { Database, type Transaction } from './database.js';
import { OwnKeyRow } from './entities/workspace.entity.js';
import { advisoryLocks } from './locks.js';
import { recordAction } from './operator-actions.js';
import { UnknownWorkspace } from './sql-errors.js';

/** A workspace's own key of a provider, without its text. */
export type OwnKey = Pick<
  OwnKeyRow,
  'id' | 'provider' | 'lastCharacters' | 'setBy' | 'setAt' | 'state' | 'stateAt'
>;

/** A version of such a key, for a worker to open. */
export interface SealedKey extends Envelope, Pick<OwnKeyRow, 'id' | 'state'> {
  /** The envelope opens only with it; see `ownKeyContext`. */
  context: string;
}

/** Former versions of one key that are kept for their live runs. */
const maxFormer = 20;
/** How often a workspace may set its key of one provider in 24 hours. */
export const maxOwnKeyChanges = 500;

const columns = `id, provider, last_characters AS "lastCharacters", set_by AS "setBy", set_at AS "setAt", state, state_at AS "stateAt"`;

const sealedColumns = `id, state, workspace_id AS "workspaceId", provider, sealed, wrapped_key AS "wrappedKey",
  wrapped_for AS "wrappedFor"`;

type SealedRow = Omit<SealedKey, 'context'> & { workspaceId: string; provider: string };

/** Binds a key's envelope to its workspace and provider, so that rows cannot be exchanged. */
export const ownKeyContext = (workspaceId: string, provider: string): string =>
  `provider key of ${provider} of workspace ${workspaceId}`;

/** Thrown when a workspace sets its key of a provider too often. */
export class TooManyKeyChanges extends Error {}

/** Workspaces' own keys of providers. */
@Injectable()
export class OwnKeyRepository {
  constructor(private readonly database: Database) {}

  /** Lists the current keys of a workspace by provider. */
  async list(workspaceId: string): Promise<OwnKey[]> {
    return this.database.reads.query<OwnKey>(
      `SELECT ${columns} FROM own_key WHERE workspace_id = $1 AND ended_at IS NULL ORDER BY provider`,
      [workspaceId],
    );
  }

  /**
   * Sets or replaces a key. Runs that the former version submitted go on with it. Throws `UnknownWorkspace` and
   * `TooManyKeyChanges`.
   */
  async set(
    workspaceId: string,
    provider: string,
    { envelope, lastCharacters }: { envelope: Envelope; lastCharacters: string | null },
    by: string,
  ): Promise<OwnKey> {
    return this.database.transaction(async (transaction) => {
      await this.record(transaction, workspaceId, provider, { action: 'provider_key.set', actor: by });
      const [changes] = await transaction.query<{ made: number }>(
        `SELECT count(*)::integer AS made FROM operator_action WHERE subject = $1 AND action = 'provider_key.set'
            AND details ->> 'workspaceId' = $2 AND at > router_now() - interval '24 hours'`,
        [provider, workspaceId],
      );
      if (changes && changes.made > maxOwnKeyChanges) throw new TooManyKeyChanges();
      await end(transaction, workspaceId, provider);
      await transaction.query(
        `DELETE FROM own_key WHERE id IN (
            SELECT id FROM own_key WHERE workspace_id = $1 AND provider = $2 AND ended_at IS NOT NULL
            ORDER BY ended_at DESC, id DESC OFFSET ${maxFormer}
          )`,
        [workspaceId, provider],
      );
      const [row] = await transaction.query<OwnKey>(
        `INSERT INTO own_key (id, workspace_id, provider, sealed, wrapped_key, wrapped_for, last_characters, set_by)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columns}`,
        [
          v7(),
          workspaceId,
          provider,
          envelope.sealed,
          envelope.wrappedKey,
          envelope.wrappedFor,
          lastCharacters,
          by,
        ],
      );
      if (!row) throw new Error('the new provider key was not returned');
      return row;
    });
  }

  /** Deletes a key. No further run is submitted with it; runs that it submitted go on. False if there is none. */
  async delete(workspaceId: string, provider: string, by: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      if (!(await end(transaction, workspaceId, provider))) return false;
      await this.record(transaction, workspaceId, provider, { action: 'provider_key.delete', actor: by });
      return true;
    });
  }

  /** The version that submits runs now. Null if the workspace has no key of the provider. */
  async current(workspaceId: string, provider: string): Promise<SealedKey | null> {
    const [row] = await this.database.work.query<SealedRow>(
      `SELECT ${sealedColumns} FROM own_key WHERE workspace_id = $1 AND provider = $2 AND ended_at IS NULL`,
      [workspaceId, provider],
    );
    return row ? sealedKey(row) : null;
  }

  /** A version that may have been replaced or deleted since. Null if it is no longer kept. */
  async version(id: string): Promise<SealedKey | null> {
    const [row] = await this.database.work.query<SealedRow>(
      `SELECT ${sealedColumns} FROM own_key WHERE id = $1`,
      [id],
    );
    return row ? sealedKey(row) : null;
  }

  /** Notes the version that a claimed run will be submitted with, if the key was replaced after its admission. */
  async useVersion(runId: string, epoch: number, id: string): Promise<void> {
    await this.database.work.query(
      `UPDATE run SET facts = facts || jsonb_build_object('ownKey', $3::text)
        WHERE id = $1 AND epoch = $2 AND stage IN ('ready', 'submitting')`,
      [runId, epoch, id],
    );
  }

  /** Notes whether the provider accepts the key. */
  async noteState(id: string, state: 'accepted' | 'rejected'): Promise<void> {
    await this.database.work.query(
      'UPDATE own_key SET state = $2, state_at = router_now() WHERE id = $1 AND state <> $2',
      [id, state],
    );
  }

  /** Lists keys, former versions too, whose data key is not wrapped for the public key with this fingerprint. */
  async wrappedForOthers(fingerprint: string, { after, limit }: { after?: string; limit: number }) {
    const rows = await this.database.work.query<SealedRow>(
      `SELECT ${sealedColumns} FROM own_key WHERE wrapped_for <> $1 AND ($2::uuid IS NULL OR id > $2)
        ORDER BY id LIMIT $3`,
      [fingerprint, after ?? null, limit],
    );
    return rows.map(sealedKey);
  }

  /** Replaces the wrapped data key. False if the row was deleted or wrapped anew meanwhile. */
  async rewrap(
    { id, wrappedKey }: Pick<SealedKey, 'id' | 'wrappedKey'>,
    wrapped: Omit<Envelope, 'sealed'>,
  ): Promise<boolean> {
    const rows = await this.database.work.query(
      `UPDATE own_key SET wrapped_key = $3, wrapped_for = $4 WHERE id = $1 AND wrapped_key = $2 RETURNING id`,
      [id, wrappedKey, wrapped.wrappedKey, wrapped.wrappedFor],
    );
    return rows.length === 1;
  }

  /** Locks the keys of the workspace against other changes, and records the change. */
  private async record(
    { query, manager }: Transaction,
    workspaceId: string,
    provider: string,
    change: { action: OperatorActionName; actor: string },
  ): Promise<void> {
    const [space] = await query<{ name: string }>(
      `SELECT name, pg_advisory_xact_lock(${advisoryLocks.apiKeys}, hashtext(id::text)) FROM workspace WHERE id = $1`,
      [workspaceId],
    );
    if (!space) throw new UnknownWorkspace(workspaceId);
    const details = { workspace: space.name, workspaceId };
    await recordAction(manager, { ...change, subject: provider, details });
  }
}

async function end(
  { query }: Pick<Transaction, 'query'>,
  workspaceId: string,
  provider: string,
): Promise<boolean> {
  const ended = await query(
    `UPDATE own_key SET ended_at = router_now()
      WHERE workspace_id = $1 AND provider = $2 AND ended_at IS NULL RETURNING id`,
    [workspaceId, provider],
  );
  return ended.length > 0;
}

const sealedKey = ({ workspaceId, provider, ...row }: SealedRow): SealedKey => ({
  ...row,
  context: ownKeyContext(workspaceId, provider),
});
