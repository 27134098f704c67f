import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

export interface UnneededObjects {
  /** Objects that a run may still need, or that an issued link still opens. */
  inDoubt: number;
  /** Objects that are due for deletion. */
  leftBehind: number;
}

// A live run may still need its objects, however old they are: its worker may have died, and the next one may be
// late.
const dueForDeletion = /* sql */ `delete_at <= router_statement_now()
  AND coalesce((SELECT outcome IS NOT NULL FROM run WHERE run.id = owner_id), true)`;

/**
 * Tracks the objects in the asset store. An object's row is written before the object and deleted after it, so
 * anything that a crash or a rejected call leaves behind is found here and deleted.
 */
@Injectable()
export class StoredObjectRepository {
  constructor(private readonly database: Database) {}

  /**
   * Records an object that is about to be written. It is deleted after `doubtSeconds`, unless a run needs it by
   * then or its run is still live. False if the key's object is being deleted, and nothing may be written there
   * now. `retryForMs` is how long to retry while the database is down.
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

  /** Marks an object that no run needs, so that the next sweep deletes it. */
  async discard(key: string): Promise<void> {
    await this.database.work.query(
      `UPDATE stored_object SET delete_at = router_now() WHERE key = $1 AND delete_at < 'infinity'`,
      [key],
    );
  }

  /** Takes up to `limit` objects that are due for deletion. If the worker dies, they are taken again later. */
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

  /** Takes the objects of a run that are due, like `takeDue`. */
  async takeOf(runId: string): Promise<string[]> {
    const rows = await this.database.work.query<{ key: string }>(
      `UPDATE stored_object SET deleting = true, delete_at = router_now() + interval '5 minutes'
        WHERE owner_id = $1 AND workspace_id IS NULL AND delete_at <= router_now() RETURNING key`,
      [runId],
    );
    return rows.map(({ key }) => key);
  }

  /** Makes taken objects due again, because the store did not delete them. */
  async giveBack(keys: readonly string[]): Promise<void> {
    await this.database.work.query(
      'UPDATE stored_object SET delete_at = router_now() WHERE key = ANY($1) AND deleting',
      [keys],
    );
  }

  /** Counts the objects that no run needs. */
  async unneeded(): Promise<UnneededObjects> {
    const [row] = await this.database.reads.query<UnneededObjects>(
      `SELECT count(*) FILTER (WHERE NOT gone)::integer AS "inDoubt",
          count(*) FILTER (WHERE gone)::integer AS "leftBehind"
        FROM (SELECT deleting OR (${dueForDeletion}) AS gone FROM stored_object WHERE delete_at < 'infinity') AS noted`,
    );
    return row ?? { inDoubt: 0, leftBehind: 0 };
  }

  /** Whether the object exists and belongs to the workspace: an uploaded file, or an object of one of its runs. */
  async isOf(workspaceId: string, key: string): Promise<boolean> {
    const rows = await this.database.reads.query(
      `SELECT 1 FROM stored_object WHERE key = $2 AND NOT deleting AND delete_at > router_now()
        AND (workspace_id = $1 OR EXISTS (SELECT 1 FROM run WHERE run.id = owner_id AND run.workspace_id = $1))`,
      [workspaceId, key],
    );
    return rows.length === 1;
  }

  /** The keys that have no row. */
  async unknown(keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.database.reads.query<{ key: string }>(
      `SELECT key FROM unnest($1::text[]) AS given (key)
        WHERE NOT EXISTS (SELECT FROM stored_object WHERE stored_object.key = given.key)`,
      [keys],
    );
    return new Set(rows.map(({ key }) => key));
  }

  /**
   * Writes rows for objects that have none, so that the next sweep deletes them. An object of a live run stays
   * until the run ends, because the run may write it again. The key of a file cannot be used until then. Returns
   * the number of objects that had no row.
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

  /** Deletes the rows of objects that are gone from the store. */
  async forget(keys: readonly string[]): Promise<void> {
    await this.database.work.query('DELETE FROM stored_object WHERE key = ANY($1) AND deleting', [keys]);
  }
}
