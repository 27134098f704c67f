import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What the asset store holds. The row comes before its object and goes after it, so nothing is left behind there. */
@Entity()
@Index('stored_object_due', ['deleteAt'], { where: "delete_at < 'infinity'" })
@Index('stored_object_run', ['runId'])
export class StoredObject {
  @PrimaryColumn('text') key: string;
  @Column('uuid') runId: string;
  @Column('timestamptz') deleteAt: Date;
  @Column('timestamptz', { default: () => "'-infinity'" }) linkExpiresAt: Date;
  @Column('boolean', { default: false }) deleting: boolean;
}
