import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { bigint, createdNow } from './columns.js';

/** A pause of calls to a provider. */
@Entity({ name: 'provider_pause' })
@Check('provider_pause_calls_check', `calls IN ('submit', 'poll')`)
@Check('provider_pause_asked_by_check', `asked_by IN ('operator', 'partner')`)
export class ProviderPauseRow {
  @PrimaryColumn('text') provider: string;
  /** `submit`: new submissions. `poll`: polls and fetches. */
  @PrimaryColumn('text') calls: 'submit' | 'poll';
  @PrimaryColumn('text') askedBy: 'operator' | 'partner';
  @Column('timestamptz') since: Date;
  @Column('timestamptz') until: Date;
  @Column('text') reason: string;
}

/** The newest results of a provider's runs, from which its state is read. */
@Entity({ name: 'provider_health' })
export class ProviderHealthRow {
  @PrimaryColumn('text') provider: string;
  /** When a reply last accepted our account. */
  @Column('timestamptz', { nullable: true }) answeredAt: Date | null;
  /** Newest first. `at` is in milliseconds since 1970. */
  @Column('jsonb', { default: [] }) results: { run: string; at: number; result: string }[];
}

/** A key of a provider's pool, as workers reported it last. The key itself is not stored. */
@Entity({ name: 'provider_key' })
export class ProviderKeyRow {
  @PrimaryColumn('text') provider: string;
  @PrimaryColumn('text') name: string;
  @Column('integer') weight: number;
  @Column('integer', { nullable: true }) concurrency: number | null;
  @Column('integer', { nullable: true }) perMinute: number | null;
  @Column('timestamptz') reportedAt: Date;
  /** No submissions before. */
  @Column('timestamptz', { nullable: true }) submitsAfter: Date | null;
  /** No polls before. */
  @Column('timestamptz', { nullable: true }) pollsAfter: Date | null;
  @Column('timestamptz', { nullable: true }) leftAt: Date | null;
  /** The rejected part of the account: `key`, `balance` or `quota`. */
  @Column('text', { nullable: true }) leftFor: string | null;
  /** When a key that has left was last checked. */
  @Column('timestamptz', { nullable: true }) checkedAt: Date | null;
  /** The submissions of the last seconds, newest first. */
  @Column('integer', { array: true, default: [] }) submits: number[];
  /** The second of the newest, since 1970. */
  @Column('bigint', { default: 0 }) submittedAt: string;
  /** The runs that hold its concurrency. */
  @Column('uuid', { array: true, default: [] }) runs: string[];
}

/** The last check of a provider's key. */
@Entity({ name: 'provider_check' })
export class ProviderCheckRow {
  @PrimaryColumn('text') provider: string;
  @Column('timestamptz') askedAt: Date;
  /** When a worker took it. */
  @Column('timestamptz', { nullable: true }) takenAt: Date | null;
  @Column('timestamptz', { nullable: true }) checkedAt: Date | null;
  @Column('jsonb', { nullable: true }) answer: object | null;
}

/** A piece of an event stream on its way to gateways. Used without Redis. */
@Entity({ name: 'stream_piece' })
@Index('stream_piece_sent_at', ['sentAt'])
export class StreamPieceRow {
  @PrimaryColumn('uuid') runId: string;
  /** The offset of its first byte. */
  @PrimaryColumn('bigint') start: string;
  /** 0: the media type, 1: bytes, 2: the end. */
  @PrimaryColumn('smallint') kind: number;
  @Column('bytea') bytes: Buffer;
  @Column('timestamptz') sentAt: Date;
}

/** The charges of a provider above the bounds of runs, by the row of its server and the digest of its price. */
@Entity()
@Check('provider_overshoot_lift_check', 'lift BETWEEN 1 AND 4')
export class ProviderOvershoot {
  @PrimaryColumn('text') model: string;
  @PrimaryColumn('text') price: string;
  /** The factor by which the bounds of the next runs are multiplied. */
  @Column('double precision') lift: number;
  @Column('integer', { default: 1 }) runs: number;
  @Column(bigint) lostMicros: number;
  /** The last of these runs. */
  @Column('uuid') runId: string;
  @Column(createdNow) firstAt: Date;
  @Column(createdNow) lastAt: Date;
}

/** Replies of one kind that a provider's declaration does not expect, and the newest of them. */
@Entity({ name: 'provider_surprise' })
export class ProviderSurpriseRow {
  @PrimaryColumn('text') provider: string;
  @PrimaryColumn('text') kind: string;
  @Column('bigint') count: string;
  @Column('timestamptz') firstAt: Date;
  @Column('timestamptz') lastAt: Date;
  @Column('uuid') runId: string;
  @Column('text') detail: string;
  @Column('integer', { nullable: true }) httpStatus: number | null;
  /** Redacted. */
  @Column('text', { nullable: true }) reply: string | null;
}

/** A running gateway or worker, as it reports itself. */
@Entity({ name: 'process' })
export class ProcessRow {
  @PrimaryColumn('uuid') id: string;
  @Column('text') app: string;
  @Column('text') host: string;
  @Column('integer') pid: number;
  @Column('text') catalogRevision: string;
  @Column('text', { nullable: true }) catalogProblem: string | null;
  /** Whether the worker has a key, by provider. Null for a gateway. */
  @Column('jsonb', { nullable: true }) providers: Record<string, boolean> | null;
  /** The providers that the simulator serves to the worker. Null for a gateway. */
  @Column('text', { array: true, nullable: true }) simulated: string[] | null;
  /** Maximum number of concurrent submissions of the worker to one provider. Null for a gateway. */
  @Column('integer', { nullable: true }) slots: number | null;
  /** The id of the asset store that it sees. */
  @Column('text', { nullable: true }) store: string | null;
  @Column(createdNow) startedAt: Date;
  @Column(createdNow) seenAt: Date;
}

/** A change by an operator, or a change of a key. It is written in the transaction of the change. */
@Entity({ name: 'operator_action' })
@Index('operator_action_time', ['at', 'id'])
@Index('operator_action_subject', ['subject', 'at', 'id'])
export class OperatorAction {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column(createdNow) at: Date;
  /**
   * `key:<id>` (a key or a session), `token:<subject>` or `admin:<user>@<host>`, the last with `<name> via ` in front
   * if the person gave a name.
   */
  @Column('text') actor: string;
  /** For example `provider.pause`. */
  @Column('text') action: string;
  /** For example the provider's name. */
  @Column('text') subject: string;
  @Column('jsonb') details: object;
}
