import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A caller's key and the run that its first use made; kept for 24 hours. */
@Entity()
@Index('idempotency_key_expiry', ['expiresAt'])
export class IdempotencyKey {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('text') key: string;
  @Column('bytea') fingerprint: Buffer;
  @Column('uuid') runId: string;
  @Column('timestamptz') expiresAt: Date;
  /** How many callers got the result in full, or are getting the last of it. */
  @Column('integer', { default: 0 }) deliveries: number;
  /** When the last of them was noted. */
  @Column('timestamptz', { nullable: true }) deliveredAt: Date | null;
}
