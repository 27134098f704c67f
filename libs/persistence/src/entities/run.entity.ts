import type { WebhookForm } from '#schemas';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type {
  AdmittingCall,
  BudgetThreshold,
  RunFacts,
  Stage,
  WebhookAttempt,
  WebhookTest,
} from '../run-facts.js';
import { bigint, createdNow, numeric } from './columns.js';

/** A run, from its admission until its result ages out. Partitioned by the day of its id. */
@Entity()
@Check('run_computed_micros_check', 'computed_micros <= coalesce(bound_micros, reserved_micros)')
@Check('run_check', `(stage = 'completed') = (outcome IS NOT NULL)`)
export class Run {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') workspaceId: string;
  @Column('text') model: string;
  @Column('text') provider: string;
  @Column('text') mode: 'queued' | 'sync';
  @Column('text') stage: Stage;
  /** Incremented by every claim, so that a worker that lost its claim cannot write. */
  @Column('integer', { default: 0 }) epoch: number;
  @Column('jsonb') facts: RunFacts;
  @Column(bigint) reservedMicros: number;
  /** The most that it can cost. Null if that is what it reserved. */
  @Column({ ...bigint, nullable: true }) boundMicros: number | null;
  @Column(bigint) computedMicros: number;
  @Column(numeric) markup: number;
  /** The cost reported by the provider, without the markup. */
  @Column({ ...bigint, nullable: true }) reportedMicros: number | null;
  /** How much more that is, with the markup, than the run can be billed. */
  @Column({ ...bigint, nullable: true }) overshootMicros: number | null;
  /** `key:<id>` or `token:<subject>` of the caller. */
  @Column('text') credential: string;
  @Column('jsonb') call: AdmittingCall;
  @Column('integer') admittedPosition: number;
  @Column('jsonb', { nullable: true }) handle: unknown;
  /** The name of the provider's key that submits the run. Null for a key that stands alone. */
  @Column('text', { nullable: true }) providerKey: string | null;
  @Column('integer', { nullable: true }) pollAfterMs: number | null;
  @Column('timestamptz', { nullable: true }) leaseUntil: Date | null;
  @Column('integer', { default: 0 }) crashes: number;
  @Column('integer', { default: 0 }) lostPolls: number;
  /** How often reading the current reply took too long. */
  @Column('integer', { default: 0 }) slowReadings: number;
  /** The provider's progress, from 0 to 1. */
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
  /** The budget windows in which the run is counted. Null if there are none. */
  @Column('bigint', { array: true, nullable: true }) budgetWindows: string[] | null;
}

/** The provider calls of a run that did not simply succeed. A run without such calls has no row. */
@Entity()
@Index('run_attempts_provider', ['provider', 'notedAt'])
export class RunAttempts {
  @PrimaryColumn('uuid') runId: string;
  /** The provider of the last attempt. */
  @Column('text') provider: string;
  /** The first ten and the last ten, oldest first. */
  @Column('jsonb', { default: [] }) attempts: unknown;
  /** The number of calls between these. */
  @Column('integer', { default: 0 }) leftOut: number;
  @Column('timestamptz') notedAt: Date;
}

/** The input or the output of a run: its bytes, or its key in the asset store. Partitioned like the runs. */
@Entity()
@Check('payload_check', 'num_nonnulls(body, stored_as) = 1')
export class Payload {
  @PrimaryColumn('uuid') runId: string;
  @PrimaryColumn('text') kind: 'input' | 'output';
  @Column('text') mediaType: string;
  @Column('bytea', { nullable: true }) body: Buffer | null;
  @Column('text', { nullable: true }) storedAs: string | null;
}

/** A run whose input, output and files its workspace keeps without expiry. */
@Entity()
@Index('kept_run_workspace', ['workspaceId', 'runId'])
export class KeptRun {
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') workspaceId: string;
  @Column('text') model: string;
  @Column('timestamptz') completedAt: Date;
  @Column('timestamptz') keptAt: Date;
}

/** A copy of a kept run's payload. Its own is dropped with its day. */
@Entity()
export class KeptPayload {
  @PrimaryColumn('uuid')
  @ForeignKey(() => KeptRun, { onDelete: 'CASCADE' })
  runId: string;
  @PrimaryColumn('text') kind: 'input' | 'output';
  @Column('text') mediaType: string;
  @Column('bytea', { nullable: true }) body: Buffer | null;
  @Column('text', { nullable: true }) storedAs: string | null;
}

/** Repeats the first answer to the Idempotency-Key of a run whose row was deleted. */
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

/**
 * One row per live run: the transactional outbox of its job, the reconciler's list, and the workspace's backlog.
 */
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
  /** How much more the run may be billed. */
  @Column({ ...bigint, default: 0 }) excessMicros: number;
  @Column('boolean', { default: false }) dispatched: boolean;
  /** Waits for a worker to take it for its provider. */
  @Column('boolean', { default: false }) waiting: boolean;
  @Column('timestamptz') dueAt: Date;
  /** How often workers took the row since it was last put back; see `DueRowRepository`. */
  @Column('smallint', { default: 0 }) attempts: number;
}

/** The number of parked runs of a workspace from this place up to the next chunk. */
@Entity()
@Check('backlog_chunk_runs_check', 'runs > 0')
export class BacklogChunk {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn(bigint) firstPlace: number;
  @Column('integer') runs: number;
}

/** An idempotency key and the run that its first use admitted. Kept for 24 hours. */
@Entity()
@Index('idempotency_key_expiry', ['expiresAt'])
export class IdempotencyKey {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('text') key: string;
  @Column('bytea') fingerprint: Buffer;
  @Column('uuid') runId: string;
  @Column('timestamptz') expiresAt: Date;
  /** The number of callers that received the full result, or are receiving its end. */
  @Column('integer', { default: 0 }) deliveries: number;
  /** When the last delivery was recorded. */
  @Column('timestamptz', { nullable: true }) deliveredAt: Date | null;
}

/**
 * A call without an idempotency key whose result has not been delivered. An equal call joins the run once the
 * connection of the first one is gone.
 */
@Entity()
@Index('unkeyed_call_fingerprint', ['workspaceId', 'fingerprint'])
export class UnkeyedCall {
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') workspaceId: string;
  @Column('bytea') fingerprint: Buffer;
  /** The gateway process that holds the caller's connection; null once the connection is gone. */
  @Column('text', { nullable: true }) heldBy: string | null;
  /** The number that the client gave to the call which got a failure. Null while no failure was delivered. */
  @Column('integer', { nullable: true }) attempt: number | null;
}

/** An HTTP call that joined, collected or repeated a run with the run's idempotency key. */
@Entity()
@Index('joined_call_run', ['runId', 'callId'])
export class JoinedCall {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('uuid') callId: string;
  @Column('uuid') runId: string;
}

/** A call for a run that was refused before it had one. Kept for a day. */
@Entity()
@Index('refused_call_workspace', ['workspaceId', 'callId'])
export class RefusedCall {
  @PrimaryColumn('uuid') callId: string;
  @Column('uuid') workspaceId: string;
  @Column('timestamptz') at: Date;
  @Column('text') route: string;
  @Column('integer') status: number;
  @Column('text') bucket: string;
  /** As the call named it. Null if it named none. */
  @Column('text', { nullable: true }) model: string | null;
  @Column('text') detail: string;
  /** The first fields that the model does not accept. */
  @Column('jsonb') fields: { name: string; type: string }[];
}

/** The call to the caller's URL after a run is completed. */
@Entity()
@Check('webhook_form_check', `form IN ('standard', 'fal', 'replicate')`)
@Index('webhook_due', ['dueAt'], { where: 'ended_at IS NULL' })
@Index('webhook_waiting', ['workspaceId', 'receiver', 'runId'], { where: 'waiting' })
@Index('webhook_workspace', ['workspaceId', 'runId'])
@Index('webhook_undelivered', ['workspaceId', 'runId'], { where: 'NOT delivered' })
export class Webhook {
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') workspaceId: string;
  @Column('text') model: string;
  /** The origin of the URLs in its body. */
  @Column('text') origin: string;
  @Column('text', { nullable: true }) bucket: string | null;
  @Column('timestamptz') completedAt: Date;
  @Column('text') url: string;
  @Column('text') receiver: string;
  @Column('text') form: WebhookForm;
  /** The number of failed calls. */
  @Column('integer', { default: 0 }) tries: number;
  /** How often a redelivery was requested. */
  @Column('integer', { default: 0 }) redeliveries: number;
  /** Waits for a slot of its receiver. */
  @Column('boolean', { default: false }) waiting: boolean;
  @Column('timestamptz') dueAt: Date;
  @Column('timestamptz', { nullable: true }) endedAt: Date | null;
  @Column('boolean', { default: false }) delivered: boolean;
  /** The reason of the last failed call. */
  @Column('text', { nullable: true }) problem: string | null;
  /** The facts of an event that is not the end of a run. `runId` is then the id of the event. */
  @Column('jsonb', { nullable: true }) event: BudgetThreshold | WebhookTest | null;
  /** The newest calls, oldest first. */
  @Column('jsonb', { default: [] }) attempts: WebhookAttempt[];
  /** The body that was sent. Null before the first call, and for a form that contains the output. */
  @Column('text', { nullable: true }) payload: string | null;
}

/** A run that anyone who has its link may see. */
@Entity()
@Index('shared_run_share', ['shareId'], { unique: true })
@Index('shared_run_workspace', ['workspaceId', 'runId'])
export class SharedRun {
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') workspaceId: string;
  @Column('text') model: string;
  /** The link is signed over it, so a dump of the table opens no link. */
  @Column('uuid') shareId: string;
  @Column('timestamptz') sharedAt: Date;
}

/** A run that every workspace sees as a sample of its model, as long as it is kept and shared. */
@Entity()
@Index('model_sample_share', ['shareId'], { unique: true })
@Index('model_sample_model', ['model', 'pinnedAt'])
export class ModelSample {
  @PrimaryColumn('uuid')
  @ForeignKey(() => KeptRun, { onDelete: 'CASCADE' })
  runId: string;
  @Column('uuid')
  @ForeignKey(() => SharedRun, 'shareId', { onDelete: 'CASCADE' })
  shareId: string;
  @Column('text') model: string;
  @Column('timestamptz') pinnedAt: Date;
}

/**
 * An object in the asset store. The row is written before the object and deleted after it, so no object is left
 * behind.
 */
@Entity()
@Index('stored_object_due', ['deleteAt'], { where: "delete_at < 'infinity'" })
@Index('stored_object_owner', ['ownerId'])
@Index('stored_object_file', ['workspaceId', 'ownerId'], { where: 'workspace_id IS NOT NULL' })
export class StoredObject {
  @PrimaryColumn('text') key: string;
  /** The run that the object belongs to, or the file's own id for an uploaded file. */
  @Column('uuid') ownerId: string;
  @Column('timestamptz') deleteAt: Date;
  @Column('timestamptz', { default: () => "'-infinity'" }) linkExpiresAt: Date;
  @Column('boolean', { default: false }) deleting: boolean;

  // Uploaded files: owner, size (reserved size until stored) and content type (once stored). Objects of kept runs: owner and size.
  @Column('uuid', { nullable: true }) workspaceId: string | null;
  @Column({ ...bigint, nullable: true }) bytes: number | null;
  @Column('text', { nullable: true }) contentType: string | null;
}
