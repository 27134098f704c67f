import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Reads a bigint of micro-dollars as a number: 2^53 micro-dollars are nine billion dollars. */
const micros = {
  to: (value: number | null) => value,
  from: (text: string | null) => (text === null ? null : Number(text)),
};

/** A paying customer's space: its entitlements, its allowances and the counters of its live runs. */
@Entity({ name: 'workspace' })
export class Workspace {
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  @Column('boolean') enabled: boolean;
  @Column('text', { array: true }) visible: string[];
  @Column('text', { array: true }) runnable: string[];
  @Column('integer', { name: 'inflight_limit' }) inflightLimit: number;
  @Column({ type: 'bigint', name: 'committed_limit_micros', transformer: micros })
  committedLimitMicros: number;
  @Column('integer', { name: 'backlog_limit' }) backlogLimit: number;
  @Column('integer', { name: 'window_limit' }) windowLimit: number;
  @Column({ type: 'bigint', name: 'balance_micros', transformer: micros, nullable: true }) balanceMicros:
    number | null;
  @Column({ type: 'integer', update: false }) inflight: number;
  @Column({ type: 'bigint', name: 'committed_micros', transformer: micros, update: false })
  committedMicros: number;
  @Column({ type: 'bigint', name: 'held_micros', transformer: micros, update: false }) heldMicros: number;
  @Column({ type: 'integer', update: false }) backlog: number;
}
