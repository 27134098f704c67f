import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

export interface UnneededObjects {
  /** A run may still come to need them, or a link that was given out still opens them. */
  inDoubt: number;
  /** To be deleted now. */
  leftBehind: number;
}

// A live run may still need what was put for it, however long ago: its worker died, and the next one comes late.
const dueForDeletion = /* sql */ `delete_at <= router_statement_now()
  AND coalesce((SELECT outcome IS NOT NULL FROM run WHERE run.id = owner_id), true)`;

/**
 * The book of what the asset store holds. An object is noted before it is put, and its note goes after it, so
 * whatever a crash or a refusal leaves behind is found here and deleted.
 */
@Injectable()
export class StoredObjectRepository {
  constructor(private readonly database: Database) {}

  /**
   * Notes what is about to be put. Unless a run needs it by then, or lives, it is deleted after `doubtSeconds`. False for
   * a key whose object is being deleted: nothing may be put there now. `retryForMs`: how long to wait for a
   * database that is away.
   */
  async note(key: string, runId: string, doubtSeconds: number, retryForMs = 0): Promise<boolean> {
    const rows = await this.database.persist(
      `INSERT INTO stored_object AS noted (key, owner_id, delete_at)
        VALUES ($1, $2, router_now() + make_interval(secs => $3))
        ON CONFLICT (key) DO UPDATE SET delete_at = greatest(noted.delete_at, excluded.delete_at)
          WHERE NOT noted.deleting
        RETURNING key`,
      [key, runId, doubtSeconds],
      retryForMs,
    );
    return rows.length === 1;
  }

  /** No run came to need them: they are deleted with the next round. */
  async discard(key: string): Promise<void> {
    await this.database.work.query(
      `UPDATE stored_object SET delete_at = router_now() WHERE key = $1 AND delete_at < 'infinity'`,
      [key],
    );
  }

  /** Takes up to `limit` objects that are to be deleted now. A worker that dies over them leaves them for later. */
  async takeDue(limit: number): Promise<string[]> {
    const rows = await this.database.work.query<{ key: string }>(
      `UPDATE stored_object SET deleting = true, delete_at = router_now() + interval '5 minutes'
        WHERE key IN (
          SELECT key FROM stored_object WHERE ${dueForDeletion}
          ORDER BY delete_at LIMIT $1 FOR UPDATE SKIP LOCKED
        ) RETURNING key`,
      [limit],
    );
    return rows.map(({ key }) => key);
  }

  /** How many objects no run needs. */
  async unneeded(): Promise<UnneededObjects> {
    const [row] = await this.database.reads.query<UnneededObjects>(
      `SELECT count(*) FILTER (WHERE NOT gone)::integer AS "inDoubt",
          count(*) FILTER (WHERE gone)::integer AS "leftBehind"
        FROM (SELECT deleting OR (${dueForDeletion}) AS gone FROM stored_object WHERE delete_at < 'infinity') AS noted`,
    );
    return row ?? { inDoubt: 0, leftBehind: 0 };
  }

  /** Whether the object is there and is the workspace's: a file that it uploaded, or of a run of its own. */
  async isOf(workspaceId: string, key: string): Promise<boolean> {
    const rows = await this.database.reads.query(
      `SELECT 1 FROM stored_object WHERE key = $2 AND NOT deleting AND delete_at > router_now()
        AND (workspace_id = $1 OR EXISTS (SELECT 1 FROM run WHERE run.id = owner_id AND run.workspace_id = $1))`,
      [workspaceId, key],
    );
    return rows.length === 1;
  }

  /** The keys that no row names. */
  async unknown(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.database.reads.query<{ key: string }>(
      `SELECT key FROM unnest($1::text[]) AS given (key)
        WHERE NOT EXISTS (SELECT FROM stored_object WHERE stored_object.key = given.key)`,
      [keys],
    );
    return new Set(rows.map(({ key }) => key));
  }

  /**
   * Gives objects that no row names a row by which the next round deletes them. One of a live run waits for the end of
   * the run, which may put it again. The place of a file is taken from now on. Returns how many had no row.
   */
  async condemn(objects: readonly { key: string; ownerId: string }[]): Promise<number> {
    const rows = await this.database.work.query(
      `INSERT INTO stored_object (key, owner_id, delete_at, deleting)
        SELECT key, owner_id, router_now(), key LIKE 'files/%' FROM unnest($1::text[], $2::uuid[]) AS given (key, owner_id)
        ON CONFLICT (key) DO NOTHING RETURNING key`,
      [objects.map(({ key }) => key), objects.map(({ ownerId }) => ownerId)],
    );
    return rows.length;
  }

  /** They are gone from the store. */
  async forget(keys: readonly string[]): Promise<void> {
    await this.database.work.query('DELETE FROM stored_object WHERE key = ANY($1) AND deleting', [keys]);
  }
}
