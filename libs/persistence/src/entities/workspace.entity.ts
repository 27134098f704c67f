import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
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
  /** Bounds of the uploaded files that have not expired: their number, and their bytes together. */
  @Column('integer', { default: 1000 }) fileLimit: number;
  @Column({ ...bigint, default: 10_737_418_240 }) fileBytesLimit: number;
  /** Null: unlimited. */
  @Column({ ...bigint, nullable: true }) balanceMicros: number | null;
  /** The cost of runs is multiplied by it. */
  @Column({ ...numeric, default: 1 }) markup: number;
  /** The secrets that sign its webhooks, newest first. */
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
  /** Granted runs that were not dispatched at the last count, and those granted since; counted again when they are needed. */
  @Column(counter) undispatched: number;
  @Column({ type: 'timestamptz', default: () => "'1970-01-01 00:00:00+00'", update: false })
  undispatchedCountedAt: Date;
  @Column(counter) inflightPeak: number;
  @Column({ ...counter, ...bigint }) committedPeakMicros: number;
}

/** A caller's key, a console session, or the code that opens one. Only its SHA-256 is stored; `prefix` finds the row. */
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
  @Column({ ...createdNow, update: false }) createdAt: Date;
  @Column('timestamptz', { nullable: true }) expiresAt: Date | null;
  @Column('timestamptz', { nullable: true }) revokedAt: Date | null;
  /** The code of a sign-in link: no key, but exchanged for a session, once. */
  @Column('boolean', { default: false }) oneTime: boolean;
  /** The key that made it, and with which it ends; null for a key of the workspace itself. */
  @ForeignKey(() => ApiKey, { onDelete: 'CASCADE', deferrable: 'INITIALLY IMMEDIATE' })
  @Column('uuid', { nullable: true })
  madeBy: string | null;
  /** The subject of the access token that made it. */
  @Column('text', { nullable: true }) madeBySubject: string | null;
  /** When a session, or the session that a code opens, ends; null for a key. */
  @Column('timestamptz', { nullable: true }) sessionUntil: Date | null;
}
