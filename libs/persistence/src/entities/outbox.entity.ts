import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { bigint } from './columns.js';

/** One row a live run: the transactional outbox of its job, the reconciler's list, and the workspace's backlog. */
@Entity()
@Check('outbox_queue_check', `queue IN ('backlog', 'dispatch', 'poll', 'assets')`)
@Index('outbox_due', ['dueAt'])
@Index('outbox_undispatched', ['workspaceId', 'place'], { where: 'NOT dispatched' })
@Index('outbox_waiting', ['provider', 'workspaceId', 'place'], { where: 'waiting' })
export class Outbox {
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') workspaceId: string;
  @Column('text') provider: string;
  @Column('text') queue: 'backlog' | 'dispatch' | 'poll' | 'assets';
  @Column({ ...bigint, default: () => "nextval('admission_order')" }) place: number;
  @Column(bigint) reservedMicros: number;
  @Column('boolean', { default: false }) dispatched: boolean;
  /** It found no concurrency slot of its provider. */
  @Column('boolean', { default: false }) waiting: boolean;
  @Column('timestamptz') dueAt: Date;
}
