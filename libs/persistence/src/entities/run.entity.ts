import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AdmittingCall, RunFacts, Stage } from '../run-facts.js';
import { bigint, createdNow, numeric } from './columns.js';

/** A run from its admission until its result ages out; partitioned by the day of its id. Only the SQL functions write it. */
@Entity()
@Check('run_computed_micros_check', 'computed_micros <= reserved_micros')
@Check('run_check', `(stage = 'completed') = (outcome IS NOT NULL)`)
export class Run {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') workspaceId: string;
  @Column('text') model: string;
  @Column('text') provider: string;
  @Column('text') mode: 'queued' | 'sync';
  @Column('text') stage: Stage;
  /** Bumped by every claim: a worker that lost its claim cannot write. */
  @Column('integer', { default: 0 }) epoch: number;
  @Column('jsonb') facts: RunFacts;
  @Column(bigint) reservedMicros: number;
  @Column(bigint) computedMicros: number;
  @Column(numeric) markup: number;
  /** The provider's own price, without the mark-up. */
  @Column({ ...bigint, nullable: true }) reportedMicros: number | null;
  @Column('text') credential: string;
  @Column('jsonb') call: AdmittingCall;
  @Column('integer') admittedPosition: number;
  @Column('jsonb', { nullable: true }) handle: unknown;
  @Column('integer', { nullable: true }) pollAfterMs: number | null;
  @Column('timestamptz', { nullable: true }) leaseUntil: Date | null;
  @Column('integer', { default: 0 }) crashes: number;
  @Column('integer', { default: 0 }) lostPolls: number;
  /** How often reading the reply that is read next took too long. */
  @Column('integer', { default: 0 }) slowReadings: number;
  /** How far the provider is, as a share of 1. */
  @Column('real', { nullable: true }) progress: number | null;
  @Column('timestamptz', { nullable: true }) sentAt: Date | null;
  @Column('timestamptz', { nullable: true }) deadlineAt: Date | null;
  @Column('timestamptz', { nullable: true }) cancelRequestedAt: Date | null;
  @Column('timestamptz', { nullable: true }) cancelSentAt: Date | null;
  @Column('timestamptz', { nullable: true }) callerLeftAt: Date | null;
  @Column(createdNow) admittedAt: Date;
  @Column('timestamptz', { nullable: true }) grantedAt: Date | null;
  @Column('timestamptz', { nullable: true }) dispatchedAt: Date | null;
  @Column('timestamptz', { nullable: true }) outputAt: Date | null;
  @Column('timestamptz', { nullable: true }) completedAt: Date | null;
  @Column('text', { nullable: true }) outcome: 'succeeded' | 'failed' | 'cancelled' | null;
  @Column('text', { nullable: true }) bucket: string | null;
  @Column('integer', { nullable: true }) status: number | null;
  @Column('jsonb', { nullable: true }) failure: unknown;
  @Column('boolean', { default: false }) providerUrls: boolean;
  @Column({ ...bigint, nullable: true }) billedMicros: number | null;
}

/** The input or the output of a run: its bytes, or the key of the object in the asset store. Partitioned as the runs are. */
@Entity()
@Check('payload_check', 'num_nonnulls(body, stored_as) = 1')
export class Payload {
  @PrimaryColumn('uuid') runId: string;
  @PrimaryColumn('text') kind: 'input' | 'output';
  @Column('text') mediaType: string;
  @Column('bytea', { nullable: true }) body: Buffer | null;
  @Column('text', { nullable: true }) storedAs: string | null;
}

/** What is left of a run whose result has aged out. */
@Entity()
@Index('tombstone_completion', ['completedAt'])
export class Tombstone {
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') workspaceId: string;
  @Column('text') model: string;
  @Column('timestamptz') completedAt: Date;
  @Column('text', { nullable: true }) origin: string | null;
  @Column('integer', { nullable: true }) admittedPosition: number | null;
}
