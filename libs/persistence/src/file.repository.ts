import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { newestFirst, newestId } from './newest-first.js';
import { orUnknownWorkspace } from './sql-errors.js';

/** An uploaded file that is stored and has not expired. */
export interface StoredFile {
  id: string;
  key: string;
  contentType: string;
  bytes: number;
  expiresAt: Date;
}

/**
 * The limit that was reached, and its value. `place`: a file with this key exists already, or is being uploaded.
 */
export interface FileRefusal {
  limit: 'files' | 'bytes' | 'place';
  maxAllowed: number;
}

const columns = `owner_id AS id, key, content_type AS "contentType", bytes::float8 AS bytes, delete_at AS "expiresAt"`;
// A row whose deletion has begun gets a later `delete_at` for the next attempt, but its file is already gone.
const isThere = 'content_type IS NOT NULL AND NOT deleting AND delete_at > router_now()';
const isLive = `workspace_id = $1 AND owner_id = $2 AND ${isThere}`;

/**
 * The files that callers upload: stored objects that belong to a workspace, not to a run. As for every object, the
 * row is written before the object, and the same sweep deletes both after they expire.
 */
@Injectable()
export class FileRepository {
  constructor(private readonly database: Database) {}

  /**
   * Writes the row of a file before its upload. It is swept after `doubtSeconds` unless it is completed. Null on
   * success. Throws `UnknownWorkspace`.
   */
  async reserve(file: {
    id: string;
    key: string;
    workspaceId: string;
    maxBytes: number;
    doubtSeconds: number;
  }): Promise<FileRefusal | null> {
    const reserving = this.database.work.query<FileRefusal>(
      `SELECT refused AS limit, max_allowed::float8 AS "maxAllowed" FROM reserve_file($1, $2, $3, $4, $5)`,
      [file.id, file.key, file.workspaceId, file.maxBytes, file.doubtSeconds],
    );
    const [refusal] = await orUnknownWorkspace(file.workspaceId, reserving);
    return refusal ?? null;
  }

  /**
   * Marks the file as stored. It expires after `seconds`. Null if the upload took so long that the row is being
   * swept.
   */
  async complete(
    key: string,
    { contentType, bytes, seconds }: { contentType: string; bytes: number; seconds: number },
  ): Promise<StoredFile | null> {
    const [file] = await this.database.work.query<StoredFile>(
      `UPDATE stored_object SET content_type = $2, bytes = $3, delete_at = router_now() + make_interval(secs => $4)
        WHERE key = $1 AND NOT deleting RETURNING ${columns}`,
      [key, contentType, bytes, seconds],
    );
    return file ?? null;
  }

  async find(workspaceId: string, id: string): Promise<StoredFile | null> {
    const [file] = await this.database.reads.query<StoredFile>(
      `SELECT ${columns} FROM stored_object WHERE ${isLive}`,
      [workspaceId, id],
    );
    return file ?? null;
  }

  /** Lists files, newest first, starting after the id `after`. */
  async list(
    workspaceId: string,
    { after = newestId, limit }: { after?: string | undefined; limit: number },
  ): Promise<StoredFile[]> {
    const { where, orderBy } = newestFirst('owner_id', workspaceId);
    return this.database.list<StoredFile>(
      workspaceId,
      `SELECT ${columns} FROM stored_object
        WHERE workspace_id IS NOT NULL AND ${where} AND ${isThere} ORDER BY ${orderBy} LIMIT $3`,
      [workspaceId, after, limit],
    );
  }

  /** Hides the file from callers. The next sweep deletes it. False if there is no such file. */
  async delete(workspaceId: string, id: string): Promise<boolean> {
    const rows = await this.database.work.query(
      `UPDATE stored_object SET delete_at = router_now() WHERE ${isLive} RETURNING key`,
      [workspaceId, id],
    );
    return rows.length === 1;
  }
}
