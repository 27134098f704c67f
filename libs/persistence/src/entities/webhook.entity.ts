import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The call that tells a caller's own address that its run is completed. */
@Entity()
@Check('webhook_form_check', `form IN ('standard', 'fal')`)
@Index('webhook_due', ['dueAt'], { where: 'ended_at IS NULL' })
@Index('webhook_waiting', ['workspaceId', 'receiver', 'runId'], { where: 'waiting' })
@Index('webhook_workspace', ['workspaceId', 'runId'])
@Index('webhook_undelivered', ['workspaceId', 'runId'], { where: 'NOT delivered' })
export class Webhook {
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') workspaceId: string;
  @Column('text') model: string;
  /** What the URLs of its body start with. */
  @Column('text') origin: string;
  @Column('text', { nullable: true }) bucket: string | null;
  @Column('timestamptz') completedAt: Date;
  @Column('text') url: string;
  @Column('text') receiver: string;
  @Column('text') form: 'standard' | 'fal';
  /** Calls that failed. */
  @Column('integer', { default: 0 }) tries: number;
  /** How often all tries were asked for once more. */
  @Column('integer', { default: 0 }) redeliveries: number;
  /** It found no slot of its receiver. */
  @Column('boolean', { default: false }) waiting: boolean;
  @Column('timestamptz') dueAt: Date;
  @Column('timestamptz', { nullable: true }) endedAt: Date | null;
  @Column('boolean', { default: false }) delivered: boolean;
  /** What came of the last try that failed. */
  @Column('text', { nullable: true }) problem: string | null;
}
