import { Check, Column, Entity, ForeignKey, Generated, Index, PrimaryColumn } from 'typeorm';
import { bigint, milliseconds, sortable } from './columns.js';

/** A generated column. Its expression must be written exactly as Postgres prints it. */
const stored = (asExpression: string) => ({ generatedType: 'STORED', asExpression, nullable: true }) as const;

const listedNodeStatus = `CASE WHEN (status = 'NodeStatusDeleted'::text) THEN status ELSE COALESCE(moderated_status, status) END`;

@Entity()
@Check('publisher_status_check', `status IN ('PublisherStatusActive', 'PublisherStatusBanned')`)
@Check(
  'publisher_moderated_status_check',
  `moderated_status IN ('PublisherStatusActive', 'PublisherStatusBanned')`,
)
export class Publisher {
  @PrimaryColumn(sortable) id: string;
  @Column('text', { nullable: true }) name: string | null;
  @Column('text', { nullable: true }) description: string | null;
  @Column('text', { nullable: true }) logo: string | null;
  @Column('text', { nullable: true }) website: string | null;
  @Column('text', { nullable: true }) support: string | null;
  @Column('text', { nullable: true }) sourceCodeRepo: string | null;
  @Column({ ...milliseconds, nullable: true }) createdAt: Date | null;
  @Column('text') status: string;
  /** An operator's decision, which imports do not overwrite. */
  @Column('text', { nullable: true }) moderatedStatus: string | null;
  @Column({ type: 'text', ...stored('COALESCE(moderated_status, status)') }) listedStatus: string;
}

@Entity()
export class PublisherMember {
  @ForeignKey(() => Publisher, { onDelete: 'CASCADE' }) @PrimaryColumn(sortable) publisherId: string;
  @PrimaryColumn('integer') place: number;
  @Column('text', { nullable: true }) id: string | null;
  @Column('text', { nullable: true }) role: string | null;
  @Column('text', { nullable: true }) userId: string | null;
  @Column('text', { nullable: true }) userName: string | null;
  @Column('text', { nullable: true }) userEmail: string | null;
}

@Entity()
@Check('node_status_check', `status IN ('NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned')`)
@Check('node_moderated_status_check', `moderated_status IN ('NodeStatusActive', 'NodeStatusBanned')`)
@Index('node_publisher', ['publisherId'])
export class Node {
  @PrimaryColumn(sortable) id: string;
  @Column(milliseconds) createdAt: Date;
  @Column(milliseconds) updatedAt: Date;
  @Column('boolean') publisherBanned: boolean;
  @Column({
    type: 'boolean',
    ...stored(`(publisher_banned OR ( ${listedNodeStatus} = 'NodeStatusBanned'::text))`),
  })
  banned: boolean;
  @Column({ ...sortable, ...stored(listedNodeStatus) }) listedStatus: string;
  @Column({ ...bigint, nullable: true }) downloads: number | null;
  @Column({ ...bigint, nullable: true }) githubStars: number | null;
  @Column('double precision', { nullable: true }) rating: number | null;
  @Column({ ...bigint, nullable: true }) searchRanking: number | null;
  @Column({ ...sortable, nullable: true }) category: string | null;
  @Column({ ...sortable, nullable: true }) author: string | null;
  @Column(sortable) name: string;
  @Column('text') description: string;
  @Column('text', { array: true, nullable: true }) tags: string[] | null;
  @Column('text', { array: true, nullable: true }) tagsAdmin: string[] | null;
  @Column('text', { nullable: true }) icon: string | null;
  @Column('text', { nullable: true }) bannerUrl: string | null;
  @Column('text', { nullable: true }) repository: string | null;
  @Column('text', { nullable: true }) license: string | null;
  @ForeignKey(() => Publisher) @Column({ ...sortable, nullable: true }) publisherId: string | null;
  @Column(sortable) status: string;
  @Column('text', { nullable: true }) statusDetail: string | null;
  @Column('text', { array: true, nullable: true }) preemptedAppNodeNames: string[] | null;
  @Column('text', { array: true, nullable: true }) supportedAccelerators: string[] | null;
  @Column('text', { array: true, nullable: true }) supportedOs: string[] | null;
  @Column('text', { nullable: true }) supportedAppVersion: string | null;
  @Column('text', { nullable: true }) supportedAppFrontendVersion: string | null;
  @Column('jsonb', { nullable: true }) translations: unknown;
  /** An operator's decision, which imports do not overwrite. */
  @Column({ ...sortable, nullable: true }) moderatedStatus: string | null;
  @Column('text', { nullable: true }) moderatedDetail: string | null;
  @Column('text', { array: true, nullable: true }) moderatedTags: string[] | null;
}

@Entity()
@Check(
  'node_version_status_check',
  `status IN ('NodeVersionStatusActive', 'NodeVersionStatusDeleted', 'NodeVersionStatusBanned', 'NodeVersionStatusPending', 'NodeVersionStatusFlagged')`,
)
// The index is in descending order, which an entity cannot express.
@Index('node_version_newest', { synchronize: false })
export class NodeVersion {
  @ForeignKey(() => Node, { onDelete: 'CASCADE' }) @PrimaryColumn(sortable) nodeId: string;
  @PrimaryColumn(sortable) version: string;
  @Column('text', { nullable: true }) id: string | null;
  @Column('text', { nullable: true }) changelog: string | null;
  @Column(milliseconds) createdAt: Date;
  @Column('boolean', { nullable: true }) deprecated: boolean | null;
  @Column('text', { array: true, nullable: true }) dependencies: string[] | null;
  @Column('text', { nullable: true }) downloadUrl: string | null;
  @Column('text') status: string;
  @Column('text', { nullable: true }) statusReason: string | null;
  @Column('text', { nullable: true }) appNodeExtractStatus: string | null;
  @Column('text', { array: true, nullable: true }) supportedAccelerators: string[] | null;
  @Column('text', { array: true, nullable: true }) supportedOs: string[] | null;
  @Column('text', { nullable: true }) supportedAppVersion: string | null;
  @Column('text', { nullable: true }) supportedAppFrontendVersion: string | null;
  @Column('text', { array: true, nullable: true }) tags: string[] | null;
  @Column('text', { array: true, nullable: true }) tagsAdmin: string[] | null;
}

/** The single row gets a new value whenever nodes are written. */
@Entity()
@Check('registry_revision_id_check', 'id')
export class RegistryRevision {
  @PrimaryColumn('boolean', { default: true }) id: boolean;
  @Generated('uuid') @Column('uuid') revision: string;
}

/** The progress of a mirror: the current walk, and the last finished one. */
@Entity()
export class RegistryMirror {
  @PrimaryColumn('text') url: string;
  @Column({ ...milliseconds, nullable: true }) walkSince: Date | null;
  @Column('integer', { nullable: true }) nextPage: number | null;
  @Column({ ...milliseconds, nullable: true }) startedAt: Date | null;
  @Column({ ...bigint, nullable: true }) startedTotal: number | null;
  @Column({ ...milliseconds, nullable: true }) finishedAt: Date | null;
  @Column({ ...bigint, nullable: true }) finishedTotal: number | null;
}
