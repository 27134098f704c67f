import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { bigint } from './columns.js';

/** What the asset store holds. The row comes before its object and goes after it, so nothing is left behind there. */
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

  // Of a file only: whose it is, how long it is, or may become, and what it is once it is there.
  @Column('uuid', { nullable: true }) workspaceId: string | null;
  @Column({ ...bigint, nullable: true }) bytes: number | null;
  @Column('text', { nullable: true }) contentType: string | null;
}
