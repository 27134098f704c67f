import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { createdNow } from './columns.js';

/** Until when which calls are not made to a provider, and who asked for that. */
@Entity({ name: 'provider_pause' })
@Check('provider_pause_calls_check', `calls IN ('submit', 'poll')`)
@Check('provider_pause_asked_by_check', `asked_by IN ('operator', 'partner')`)
export class ProviderPauseRow {
  @PrimaryColumn('text') provider: string;
  @PrimaryColumn('text') calls: 'submit' | 'poll';
  @PrimaryColumn('text') askedBy: 'operator' | 'partner';
  @Column('timestamptz') since: Date;
  @Column('timestamptz') until: Date;
  @Column('text') reason: string;
}

/** What a running gateway or worker says about itself. */
@Entity({ name: 'process' })
export class ProcessRow {
  @PrimaryColumn('uuid') id: string;
  @Column('text') app: string;
  @Column('text') host: string;
  @Column('integer') pid: number;
  @Column('text') catalogRevision: string;
  @Column('text', { nullable: true }) catalogProblem: string | null;
  /** Of a worker: whether it has a key, by provider. */
  @Column('jsonb', { nullable: true }) providers: Record<string, boolean> | null;
  @Column(createdNow) startedAt: Date;
  @Column(createdNow) seenAt: Date;
}
