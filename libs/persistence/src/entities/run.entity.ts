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
  /** `key:<id>` or `token:<subject>` of the caller that was admitted. */
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

/** The rest of a run whose result has aged out. */
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
  /** How often workers have taken it since one of them last put it back: see `DueRowRepository`. */
  @Column('smallint', { default: 0 }) attempts: number;
}

/** How many runs of a workspace are parked from this place on, up to the next chunk. */
@Entity()
@Check('backlog_chunk_runs_check', 'runs > 0')
export class BacklogChunk {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn(bigint) firstPlace: number;
  @Column('integer') runs: number;
}

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
  /** The beginning of the URLs in its body. */
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
  /** The failure of the last try that failed. */
  @Column('text', { nullable: true }) problem: string | null;
}

/** An object of the asset store. The row comes before its object and goes after it, so nothing is left behind there. */
@Entity()
@Index('stored_object_due', ['deleteAt'], { where: "delete_at < 'infinity'" })
@Index('stored_object_owner', ['ownerId'])
@Index('stored_object_file', ['workspaceId', 'ownerId'], { where: 'workspace_id IS NOT NULL' })
export class StoredObject {
  @PrimaryColumn('text') key: string;
  /** The run that it belongs to, or, for a file of a caller's, the file's own id. */
  @Column('uuid') ownerId: string;
  @Column('timestamptz') deleteAt: Date;
  @Column('timestamptz', { default: () => "'-infinity'" }) linkExpiresAt: Date;
  @Column('boolean', { default: false }) deleting: boolean;

  // Uploaded files only: owner, size (reserved size until stored) and content type (once stored).
  @Column('uuid', { nullable: true }) workspaceId: string | null;
  @Column({ ...bigint, nullable: true }) bytes: number | null;
  @Column('text', { nullable: true }) contentType: string | null;
}
