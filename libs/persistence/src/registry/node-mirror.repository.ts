import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A walk over another registry's pages: where it stands, and what it started from. */
export interface MirrorWalk {
  /** Asked for changes after this time; null: for everything. */
  since: Date | null;
  /** The next page to read. */
  page: number;
  /** The source's clock when the walk began. */
  startedAt: Date;
  /** How many nodes the source had in all when the walk began. */
  startedTotal: number;
}

/** How far the mirroring of each source has come, so that a walk that was cut off goes on and the next one asks for less. */
@Injectable()
export class NodeMirrorRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The walk that was cut off, or null. */
  async unfinished(url: string): Promise<MirrorWalk | null> {
    const [row] = await this.dataSource.query<
      { since: Date | null; page: number; startedAt: Date; startedTotal: string }[]
    >(
      `SELECT walk_since AS since, next_page AS page, started_at AS "startedAt", started_total AS "startedTotal"
        FROM registry_mirror WHERE url = $1 AND next_page IS NOT NULL`,
      [url],
    );
    return row ? { ...row, startedTotal: Number(row.startedTotal) } : null;
  }

  /** The last walk that was finished: the source's clock and total at its start; null: there is none. */
  async finished(url: string): Promise<{ at: Date; total: number } | null> {
    const [row] = await this.dataSource.query<{ at: Date; total: string }[]>(
      `SELECT finished_at AS at, finished_total AS total
        FROM registry_mirror WHERE url = $1 AND finished_at IS NOT NULL`,
      [url],
    );
    return row ? { at: row.at, total: Number(row.total) } : null;
  }

  /** Saves where a walk stands. */
  async save(url: string, walk: MirrorWalk): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO registry_mirror (url, walk_since, next_page, started_at, started_total) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (url) DO UPDATE SET walk_since = EXCLUDED.walk_since, next_page = EXCLUDED.next_page,
          started_at = EXCLUDED.started_at, started_total = EXCLUDED.started_total`,
      [url, walk.since, walk.page, walk.startedAt, walk.startedTotal],
    );
  }

  async finish(url: string, walk: MirrorWalk): Promise<void> {
    await this.dataSource.query(
      `UPDATE registry_mirror SET next_page = NULL, walk_since = NULL, finished_at = $2, finished_total = $3
        WHERE url = $1`,
      [url, walk.startedAt, walk.startedTotal],
    );
  }
}
