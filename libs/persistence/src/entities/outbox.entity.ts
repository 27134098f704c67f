import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { bigint } from './columns.js';

/** One row a live run: the transactional outbox of its job, the reconciler's list, and the workspace's backlog. */
@Entity()
@Index('outbox_due', ['dueAt'])
@Index('outbox_undispatched', ['workspaceId', 'queue', 'place'], { where: 'NOT dispatched' })
@Index('outbox_waiting', ['provider', 'workspaceId', 'place'], { where: 'waiting' })
export class Outbox {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('uuid') runId: string;
  @Column('text') provider: string;
  @Column('text') queue: 'backlog' | 'dispatch' | 'poll' | 'assets';
  @Column({ ...bigint, default: () => "nextval('admission_order')" }) place: number;
  @Column(bigint) reservedMicros: number;
  @Column('boolean', { default: false }) dispatched: boolean;
  /** It found no concurrency slot of its provider. */
  @Column('boolean', { default: false }) waiting: boolean;
  @Column('timestamptz') dueAt: Date;
}

/** How many runs of a workspace are parked from this place on, up to the next chunk. */
@Entity()
@Check('backlog_chunk_runs_check', 'runs > 0')
export class BacklogChunk {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn(bigint) firstPlace: number;
  @Column('integer') runs: number;
}
