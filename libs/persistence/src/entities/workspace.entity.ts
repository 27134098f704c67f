import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigint, createdNow, numeric } from './columns.js';

const counter = { type: 'integer', default: 0, update: false } as const;

/** A paying customer's space: its entitlements, its allowances and the counters of its live runs. */
@Entity()
export class Workspace {
  @PrimaryColumn('uuid') id: string;
  @Column('text', { unique: true }) name: string;
  @Column('boolean', { default: true }) enabled: boolean;
  @Column('text', { array: true, default: ['**'] }) visible: string[];
  @Column('text', { array: true, default: ['**'] }) runnable: string[];
  @Column({ ...createdNow, update: false }) createdAt: Date;

  @Column('integer', { default: 5 }) inflightLimit: number;
  @Column({ ...bigint, default: 100_000_000 }) committedLimitMicros: number;
  @Column('integer', { default: 1000 }) backlogLimit: number;
  @Column('integer', { default: 600 }) windowLimit: number;
  /** Of the files that it has uploaded and that have not expired: how many, and how long together. */
  @Column('integer', { default: 1000 }) fileLimit: number;
  @Column({ ...bigint, default: 10_737_418_240 }) fileBytesLimit: number;
  /** Null: unlimited. */
  @Column({ ...bigint, nullable: true }) balanceMicros: number | null;
  /** What runs cost is multiplied by it. */
  @Column({ ...numeric, default: 1 }) markup: number;
  /** What its webhooks are signed with, the newest first. */
  @Column('text', { array: true, default: () => 'ARRAY[new_webhook_secret()]' }) webhookSecrets: string[];
  @Column('timestamptz', { nullable: true }) webhookSecretRotatedAt: Date | null;

  // Only the SQL functions change these, each in the transaction of the run that it counts.
  @Column(counter) inflight: number;
  @Column({ ...counter, ...bigint }) committedMicros: number;
  @Column({ ...counter, ...bigint }) heldMicros: number;
  @Column(counter) backlog: number;
  @Column({ type: 'timestamptz', default: () => "'1970-01-01 00:00:00+00'", update: false })
  windowStartedAt: Date;
  @Column(counter) windowCount: number;
  @Column(counter) inflightPeak: number;
  @Column({ ...counter, ...bigint }) committedPeakMicros: number;
}
