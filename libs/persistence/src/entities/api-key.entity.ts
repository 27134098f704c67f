import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { createdNow } from './columns.js';
import { Workspace } from './workspace.entity.js';

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
