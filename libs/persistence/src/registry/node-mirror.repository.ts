import type { DataSource, Repository } from 'typeorm';
import { RegistryMirror } from '../entities/registry.entity.js';

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
export class NodeMirrorRepository {
  private readonly mirrors: Repository<RegistryMirror>;

  constructor(dataSource: DataSource) {
    this.mirrors = dataSource.getRepository(RegistryMirror);
  }

  /** The walk that was cut off, or null. */
  async unfinished(url: string): Promise<MirrorWalk | null> {
    const { walkSince, nextPage, startedAt, startedTotal } = (await this.mirrors.findOneBy({ url })) ?? {};
    return nextPage && startedAt
      ? { since: walkSince ?? null, page: nextPage, startedAt, startedTotal: startedTotal ?? 0 }
      : null;
  }

  /** The last walk that was finished: the source's clock and total at its start; null: there is none. */
  async finished(url: string): Promise<{ at: Date; total: number } | null> {
    const { finishedAt, finishedTotal } = (await this.mirrors.findOneBy({ url })) ?? {};
    return finishedAt ? { at: finishedAt, total: finishedTotal ?? 0 } : null;
  }

  /** Saves where a walk stands. */
  async save(url: string, { since: walkSince, page: nextPage, ...started }: MirrorWalk): Promise<void> {
    await this.mirrors.upsert({ url, walkSince, nextPage, ...started }, ['url']);
  }

  async finish(url: string, { startedAt, startedTotal }: MirrorWalk): Promise<void> {
    const finished = { finishedAt: startedAt, finishedTotal: startedTotal };
    await this.mirrors.update({ url }, { nextPage: null, walkSince: null, ...finished });
  }
}
