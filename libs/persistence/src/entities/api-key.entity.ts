import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A caller's key. Only its SHA-256 is stored; `prefix` finds the row. */
@Entity({ name: 'api_key' })
export class ApiKey {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid', { name: 'workspace_id' }) workspaceId: string;
  @Column('text') name: string;
  @Column('text') prefix: string;
  @Column('bytea') hash: Buffer;
  @Column('text', { array: true }) scopes: string[];
  @Column({ type: 'timestamptz', name: 'created_at', default: () => 'router_now()', update: false })
  createdAt: Date;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt: Date | null;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt: Date | null;
}
