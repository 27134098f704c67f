import {
  Check,
  Column,
  Entity,
  ForeignKey,
  Index,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import { bigint } from './columns.js';
import { Workspace } from './workspace.entity.js';

/** A temporary addition to a limit. `until` is exclusive. */
export interface BudgetRaise {
  micros: number;
  from: string;
  until: string;
}

/** The most that runs of a workspace may cost in a period. */
@Entity()
@Check('budget_period_check', `period IN ('day', 'week', 'month', 'total')`)
@Unique(['workspaceId', 'name'])
export class Budget {
  @PrimaryColumn('uuid') id: string;
  @ForeignKey(() => Workspace) @Column('uuid') workspaceId: string;
  @Column('text') name: string;
  /** Which runs it counts: all of the `workspace`, or those with a value of `key`, `user`, `model` or `tag:<name>`. */
  @Column('text') scope: string;
  /** Empty for `workspace`, `key:<id>` for `key`, a glob for `model`. Null: each value is counted by itself. */
  @Column('text', { nullable: true }) value: string | null;
  /** The regular expression of the glob. */
  @Column('text', { nullable: true }) pattern: string | null;
  @Column('text') period: 'day' | 'week' | 'month' | 'total';
  @Column('text') timeZone: string;
  @Column(bigint) limitMicros: number;
  /** Whether it refuses runs. If not, it only notifies. */
  @Column('boolean') hard: boolean;
  @Column('text', { nullable: true }) webhookUrl: string | null;
  @Column('jsonb', { default: [] }) raises: BudgetRaise[];
  /** Whether a budget of end users counts the calls without one. */
  @Column('boolean', { default: true }) countsNone: boolean;
}

/**
 * The reserved and spent amounts of one value of a budget in one window: a day, a week or a month, or all time. Only the SQL
 * functions change the amounts, under the lock of the workspace.
 */
@Entity()
@Unique(['budgetId', 'startsAt', 'value'])
@Index('budget_window_end', ['endsAt'])
export class BudgetWindow {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @ForeignKey(() => Budget, { onDelete: 'CASCADE' }) @Column('uuid') budgetId: string;
  @Column('timestamptz') startsAt: Date;
  @Column('text') value: string;
  @Column('timestamptz') endsAt: Date;
  @Column({ ...bigint, default: 0 }) reservedMicros: number;
  @Column({ ...bigint, default: 0 }) spentMicros: number;
  /** The highest share of the limit, in percent, that was notified of. */
  @Column('smallint', { default: 0 }) notified: number;
}
