import type { Attribution } from '#schemas';
import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Basis, Written } from '../run-facts.js';
import { bigint, createdNow } from './columns.js';

/**
 * A change of a workspace's credits: negative for a billed run, positive for added credits and, with the run, for a
 * refund. It outlives the run.
 */
@Entity()
@Index('ledger_entry_refund', ['workspaceId', 'runId'], {
  unique: true,
  where: 'run_id IS NOT NULL AND amount_micros > 0',
})
@Index('ledger_entry_age', ['at'], { type: 'brin' })
export class LedgerEntry {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid', { nullable: true }) runId: string | null;
  @Column(createdNow) at: Date;
  @Column(bigint) amountMicros: number;
  /** The balance after this entry. Null if credits were unlimited. */
  @Column({ ...bigint, nullable: true }) balanceMicros: number | null;
  @Column('text', { nullable: true }) basis: Basis | null;
  @Column('text') note: string;
}

/** The facts and the cost of a finished run. It outlives the run. */
@Entity()
@Index('audit_record_workspace', ['workspaceId', 'completedAt'])
@Index('audit_record_age', ['completedAt'], { type: 'brin' })
@Index('audit_record_call', ['requestId'])
@Index('audit_record_model', ['workspaceId', 'model', 'runId'])
@Index('audit_record_credential', ['workspaceId', 'credential', 'runId'])
@Index('audit_record_outcome', ['workspaceId', 'outcome', 'runId'])
@Index('audit_record_bucket', ['workspaceId', 'bucket', 'runId'], { where: 'bucket IS NOT NULL' })
// Partial: see the migration.
@Index('audit_record_late', ['runId'])
export class AuditRecord {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('uuid') runId: string;
  @Column('uuid') requestId: string;
  /** `key:<id>` or `token:<subject>` of the caller, as of the admission. */
  @Column('text') credential: string;
  @Column('text') model: string;
  /** The provider that served the run. */
  @Column('text') provider: string;
  @Column('text') route: string;
  @Column('text') outcome: string;
  @Column('text', { nullable: true }) bucket: string | null;
  @Column('integer') status: number;
  @Column('boolean') callerLeft: boolean;
  @Column('timestamptz') admittedAt: Date;
  @Column('timestamptz', { nullable: true }) grantedAt: Date | null;
  @Column('timestamptz', { nullable: true }) dispatchedAt: Date | null;
  @Column('timestamptz', { nullable: true }) outputAt: Date | null;
  @Column('timestamptz') completedAt: Date;
  /** The reserved upper bound. */
  @Column(bigint) costMicros: number;
  /** The billed amount. The ledger entry is written in the same transaction. */
  @Column(bigint) billedMicros: number;
  /** Null for a run that is not billed. */
  @Column('text', { nullable: true }) basis: Basis | null;
  /** How much more the provider reported than the run could be billed. */
  @Column({ ...bigint, nullable: true }) overshootMicros: number | null;
  /** Null for a run without text, and for one whose reply does not report it. */
  @Column('jsonb', { nullable: true }) written: Written | null;
  /** Whether the simulator served the run. */
  @Column('boolean', { default: false }) simulated: boolean;
  /** Null for a run without tags and without an end user. */
  @Column('jsonb', { nullable: true }) attribution: Attribution | null;
  /** The budget windows in which the run was counted. Null if there are none. */
  @Column('bigint', { array: true, nullable: true }) budgetWindows: string[] | null;
}

/** A value of a dimension of a finished run, by which the run is found. */
@Entity()
@Index('run_attribution_run', ['runId'])
export class RunAttribution {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('text') dimension: string;
  @PrimaryColumn('text') value: string;
  @PrimaryColumn('uuid') runId: string;
}

/** The audit records of an hour or a day, added up. */
@Entity()
@Check('usage_sum_unit_check', `unit IN ('hour', 'day')`)
@Index('usage_sum_age', ['at'], { type: 'brin' })
export class UsageSum {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('text') unit: 'hour' | 'day';
  /** The start of the hour or day, in UTC. */
  @PrimaryColumn('timestamptz') at: Date;
  @PrimaryColumn('text') model: string;
  /** `key:<id>`, or `token` for all access tokens. */
  @PrimaryColumn('text') credential: string;
  @Column(bigint) runs: number;
  @Column(bigint) succeeded: number;
  @Column(bigint) billedMicros: number;
}

/** The audit records of an hour or a day that have a value of a dimension, added up. */
@Entity()
@Check('usage_dimension_sum_unit_check', `unit IN ('hour', 'day')`)
@Index('usage_dimension_sum_age', ['at'], { type: 'brin' })
@Index('usage_dimension_sum_day', { synchronize: false })
export class UsageDimensionSum {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('text') dimension: string;
  @PrimaryColumn('text') unit: 'hour' | 'day';
  /** The start of the hour or day, in UTC. */
  @PrimaryColumn('timestamptz') at: Date;
  @PrimaryColumn('text') value: string;
  @PrimaryColumn('text') model: string;
  /** `key:<id>`, or `token` for all access tokens. */
  @PrimaryColumn('text') credential: string;
  @Column(bigint) runs: number;
  @Column(bigint) succeeded: number;
  @Column(bigint) billedMicros: number;
}

/** Up to when the audit records of a workspace are added up: the end of an hour. */
@Entity()
export class UsageProgress {
  @PrimaryColumn('uuid') workspaceId: string;
  @Column('timestamptz') until: Date;
}

/** The runs of a day that say something about their model, over all workspaces. */
@Entity()
export class MeasuredRuns {
  @PrimaryColumn('date') day: string;
  @PrimaryColumn('text') model: string;
  /** The number that succeeded, or failed through the provider's fault. */
  @Column('integer') runs: number;
  @Column('integer') succeeded: number;
  /** How many of them took up to 0.11 s, up to 0.121 s, and so on: each of the 100 limits is 10 % above the one before. */
  @Column('integer', { array: true }) times: number[];
  /** Up to three of their workspaces. */
  @Column('uuid', { array: true }) workspaces: string[];
  /** Counts of what the model wrote, by workspace and name; see `add_up_usage`. Null if it writes no text. */
  @Column('jsonb', { nullable: true }) answers: Record<string, Record<string, number>> | null;
}
