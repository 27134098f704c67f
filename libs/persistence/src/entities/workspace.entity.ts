import type { Reservation, Tags } from '#schemas';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { bigint, createdNow, numeric } from './columns.js';

const counter = { type: 'integer', default: 0, update: false } as const;

/** A customer's workspace: its entitlements, limits, and the counters of its live runs. */
@Entity()
@Check('workspace_reservation_check', "reservation IN ('likely', 'bound')")
@Check('workspace_overdraft_check', 'overdraft_limit_micros >= 0 AND excess_micros >= 0')
export class Workspace {
  @PrimaryColumn('uuid') id: string;
  @Column('text', { unique: true }) name: string;
  @Column('boolean', { default: true }) enabled: boolean;
  @Column('text', { array: true, default: ['**'] }) visible: string[];
  @Column('text', { array: true, default: ['**'] }) runnable: string[];
  @Column({ ...createdNow, update: false }) createdAt: Date;

  @Column('integer', { default: 20 }) inflightLimit: number;
  @Column({ ...bigint, default: 100_000_000 }) committedLimitMicros: number;
  @Column('integer', { default: 1000 }) backlogLimit: number;
  @Column('integer', { default: 600 }) windowLimit: number;
  /** Limits of the uploaded files that have not expired: their number and their total size. */
  @Column('integer', { default: 1000 }) fileLimit: number;
  @Column({ ...bigint, default: 10_737_418_240 }) fileBytesLimit: number;
  /** Null for unlimited credits. */
  @Column({ ...bigint, nullable: true }) balanceMicros: number | null;
  /** The factor by which the cost of runs is multiplied. */
  @Column({ ...numeric, default: 1 }) markup: number;
  /** The factor by which the cost of runs with the workspace's own provider keys is multiplied. */
  @Column({ ...numeric, default: 0 }) ownKeyFee: number;
  /** Whether its runs reserve their likely cost, or the most that they can cost. */
  @Column('text', { default: 'likely' }) reservation: Reservation;
  /** How far below zero the balance may go if runs cost more than they reserved. */
  @Column({ ...bigint, default: 20_000_000 }) overdraftLimitMicros: number;
  /** The secrets that sign the workspace's webhooks, newest first. */
  @Column('text', { array: true, default: () => 'ARRAY[new_webhook_secret()]' }) webhookSecrets: string[];
  @Column('timestamptz', { nullable: true }) webhookSecretRotatedAt: Date | null;
  /** How long results are kept, in seconds, if shorter than those of all workspaces. Null for no own period. */
  @Column('integer', { nullable: true }) resultRetentionSeconds: number | null;

  /** Whether operators may show its runs as public samples. */
  @Column('boolean', { default: false }) allowSamples: boolean;
  /** Whether its runs may use tools that run at the provider. */
  @Column('boolean', { default: true }) allowProviderTools: boolean;
  /** The names of the tags that each run must have. */
  @Column('text', { array: true, default: [] }) requiredTags: string[];
  /** Whether each run must name an end user. */
  @Column('boolean', { default: false }) requiresUser: boolean;

  /** The number of its budgets. Without one, runs read no table of budgets. */
  @Column(counter) budgets: number;

  // Only the SQL functions change these counters, each in the transaction of the run that it counts.
  @Column(counter) inflight: number;
  @Column({ ...counter, ...bigint }) committedMicros: number;
  @Column({ ...counter, ...bigint }) heldMicros: number;
  /** How much more the live runs may be billed than they reserved. */
  @Column({ ...counter, ...bigint }) excessMicros: number;
  @Column(counter) backlog: number;
  @Column({ type: 'timestamptz', default: () => "'1970-01-01 00:00:00+00'", update: false })
  windowStartedAt: Date;
  @Column(counter) windowCount: number;
  /**
   * Granted runs that were not dispatched at the last count, plus those granted since. Counted again when needed.
   */
  @Column(counter) undispatched: number;
  @Column({ type: 'timestamptz', default: () => "'1970-01-01 00:00:00+00'", update: false })
  undispatchedCountedAt: Date;
  @Column(counter) inflightPeak: number;
  @Column({ ...counter, ...bigint }) committedPeakMicros: number;
}

/** Up to which ended run the data of a workspace was deleted because of its own period. */
@Entity()
export class WorkspaceErasure {
  @PrimaryColumn('uuid') workspaceId: string;
  @Column('timestamptz') completedAt: Date;
  @Column('uuid') runId: string;
}

/**
 * A caller's key, a console session, or the code that opens one. Only its SHA-256 is stored. `prefix` finds the
 * row.
 */
@Entity()
@Index('api_key_workspace', ['workspaceId', 'id'])
@Index('api_key_made_by', ['madeBy'])
@Index('api_key_expired', ['expiresAt'])
@Index('api_key_revoked', ['revokedAt'])
@Index('api_key_session', ['sessionUntil'])
export class ApiKey {
  @PrimaryColumn('uuid') id: string;
  @ForeignKey(() => Workspace) @Column('uuid') workspaceId: string;
  @Column('text') name: string;
  @Column('text', { unique: true }) prefix: string;
  @Column('bytea') hash: Buffer;
  @Column('text', { array: true }) scopes: string[];
  /** The tags that every run of the key gets. Null if there are none. */
  @Column('jsonb', { nullable: true }) tags: Tags | null;
  @Column({ ...createdNow, update: false }) createdAt: Date;
  @Column('timestamptz', { nullable: true }) expiresAt: Date | null;
  @Column('timestamptz', { nullable: true }) revokedAt: Date | null;
  /** The code of a sign-in link. It is not a key, but can be exchanged for a session once. */
  @Column('boolean', { default: false }) oneTime: boolean;
  /** The key that made this one, and with which it ends. Null for a key of the workspace itself. */
  @ForeignKey(() => ApiKey, { onDelete: 'CASCADE', deferrable: 'INITIALLY IMMEDIATE' })
  @Column('uuid', { nullable: true })
  madeBy: string | null;
  /** The subject of the access token that made this key. */
  @Column('text', { nullable: true }) madeBySubject: string | null;
  /** When the session ends, or the session that the code opens. Null for a key. */
  @Column('timestamptz', { nullable: true }) sessionUntil: Date | null;
  /** About when the key was last used: gateways note it once a minute. */
  @Column('timestamptz', { nullable: true }) lastUsedAt: Date | null;
  /** The key that replaced this one. */
  @Column('uuid', { nullable: true }) rotatedTo: string | null;
  /** The first of the keys that were rotated to this one. Budgets count them all under its id. */
  @Column('uuid', { nullable: true }) firstId: string | null;
}

/**
 * A workspace's own key of a provider. Only workers can decrypt it. The current one has no `endedAt`; former ones stay
 * while runs that they submitted are live.
 */
@Entity({ name: 'own_key' })
@Check('own_key_state_check', `state IN ('unused', 'accepted', 'rejected')`)
@Index('own_key_current', ['workspaceId', 'provider'], { unique: true, where: 'ended_at IS NULL' })
@Index('own_key_provider', ['provider', 'workspaceId'])
@Index('own_key_ended', ['endedAt'])
export class OwnKeyRow {
  @PrimaryColumn('uuid') id: string;
  @ForeignKey(() => Workspace) @Column('uuid') workspaceId: string;
  @Column('text') provider: string;
  /** The key's text, encrypted with a data key; see `Envelope`. */
  @Column('bytea') sealed: Buffer;
  @Column('bytea') wrappedKey: Buffer;
  /** The fingerprint of the public key to which the data key is wrapped. */
  @Column('text') wrappedFor: string;
  /** The last characters of the key's text. Null for a short key. */
  @Column('text', { nullable: true }) lastCharacters: string | null;
  /** The credential that set it. */
  @Column('text') setBy: string;
  @Column({ ...createdNow, update: false }) setAt: Date;
  @Column('timestamptz', { nullable: true }) endedAt: Date | null;
  /** The provider's last verdict on the key. */
  @Column('text', { default: 'unused' }) state: 'unused' | 'accepted' | 'rejected';
  @Column('timestamptz', { nullable: true }) stateAt: Date | null;
}
