import type { DataSource, Repository } from 'typeorm';
import { RegistryMirror } from '../entities/registry.entity.js';

/** The state of a walk over the pages of another registry. */
export interface MirrorWalk {
  /** The walk requests changes after this time. Null for all nodes. */
  since: Date | null;
  /** The next page to read. */
  page: number;
  /** The source's clock when the walk began. */
  startedAt: Date;
  /** The source's total number of nodes when the walk began. */
  startedTotal: number;
}

/**
 * Stores the mirroring progress of each source, so that an interrupted walk resumes and the next one requests only
 * changes.
 */
export class NodeMirrorRepository {
  private readonly mirrors: Repository<RegistryMirror>;

  constructor(dataSource: DataSource) {
    this.mirrors = dataSource.getRepository(RegistryMirror);
  }

  /** The interrupted walk, or null. */
  async unfinished(url: string): Promise<MirrorWalk | null> {
    const { walkSince, nextPage, startedAt, startedTotal } = (await this.mirrors.findOneBy({ url })) ?? {};
    return nextPage && startedAt
      ? { since: walkSince ?? null, page: nextPage, startedAt, startedTotal: startedTotal ?? 0 }
      : null;
  }

  /** The last finished walk: the source's clock and total at its start. Null if none has finished. */
  async finished(url: string): Promise<{ at: Date; total: number } | null> {
    const { finishedAt, finishedTotal } = (await this.mirrors.findOneBy({ url })) ?? {};
    return finishedAt ? { at: finishedAt, total: finishedTotal ?? 0 } : null;
  }

  /** Saves the state of a walk. */
  async save(url: string, { since: walkSince, page: nextPage, ...started }: MirrorWalk): Promise<void> {
    await this.mirrors.upsert({ url, walkSince, nextPage, ...started }, ['url']);
  }

  async finish(url: string, { startedAt, startedTotal }: MirrorWalk): Promise<void> {
    const finished = { finishedAt: startedAt, finishedTotal: startedTotal };
    await this.mirrors.update({ url }, { nextPage: null, walkSince: null, ...finished });
  }
}
