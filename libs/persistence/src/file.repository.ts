import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { newestFirst, newestId } from './newest-first.js';
import { orUnknownWorkspace } from './sql-errors.js';

/** A file of a caller's that is there. */
export interface StoredFile {
  id: string;
  key: string;
  contentType: string;
  bytes: number;
  expiresAt: Date;
}

/** Which limit of the workspace is reached, and what it is; `place`: the one file that the key is for is there, or on its way. */
export interface FileRefusal {
  limit: 'files' | 'bytes' | 'place';
  maxAllowed: number;
}

const columns = `owner_id AS id, key, content_type AS "contentType", bytes::float8 AS bytes, delete_at AS "expiresAt"`;
// One whose deletion has begun is tried again a little later, and was gone before.
const isThere = 'content_type IS NOT NULL AND NOT deleting AND delete_at > router_now()';
const isLive = `workspace_id = $1 AND owner_id = $2 AND ${isThere}`;

/**
 * The files that callers upload: stored objects that belong to a workspace and not to a run. Like every object each has
 * its row before it exists, and when it has expired both go by the same sweep.
 */
@Injectable()
export class FileRepository {
  constructor(private readonly database: Database) {}

  /**
   * The row of a file that is about to be put; unless it is completed, it is swept after `doubtSeconds`. Null: reserved.
   * Throws `UnknownWorkspace`.
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

  /** The file is there, for so long. Null when it took so long that it is being swept. */
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

  /** The newest first, behind `after`. */
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

  /** It is gone for callers; the next round of the sweep deletes it. False when there was none. */
  async delete(workspaceId: string, id: string): Promise<boolean> {
    const rows = await this.database.work.query(
      `UPDATE stored_object SET delete_at = router_now() WHERE ${isLive} RETURNING key`,
      [workspaceId, id],
    );
    return rows.length === 1;
  }
}
