import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { createdNow } from './columns.js';
import { Workspace } from './workspace.entity.js';

/** A caller's key. Only its SHA-256 is stored; `prefix` finds the row. */
@Entity()
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
  /** The code of a sign-in link: no key, but exchanged for one, once. */
  @Column('boolean', { default: false }) oneTime: boolean;
}
