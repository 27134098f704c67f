import { z } from 'zod';

const text = (description: string) => z.string().describe(description).optional();
const texts = (description: string) => z.array(z.string()).describe(description).optional();
const moment = (description: string) => z.iso.datetime({ offset: true }).describe(description).optional();
const number = (description: string) => z.int().describe(description).optional();

export const nodeStatus = z
  .enum(['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned'])
  .meta({ id: 'NodeStatus', description: 'The state of a node. Deleted nodes are never listed.' });

export const nodeVersionStatus = z
  .enum([
    'NodeVersionStatusActive',
    'NodeVersionStatusDeleted',
    'NodeVersionStatusBanned',
    'NodeVersionStatusPending',
    'NodeVersionStatusFlagged',
  ])
  .meta({ id: 'NodeVersionStatus', description: 'The state of a version.' });

export const publisherStatus = z
  .enum(['PublisherStatusActive', 'PublisherStatusBanned'])
  .meta({ id: 'PublisherStatus', description: 'The state of a publisher.' });

const publisherUser = z
  .object({
    id: text('The id of the user.'),
    name: text('The name of the user.'),
    email: text('The e-mail address, which is never listed.'),
  })
  .meta({ id: 'PublisherUser', description: 'A person.' });

const publisherMember = z
  .object({
    id: text('The id of the membership.'),
    role: text('The role of the user at the publisher.'),
    user: publisherUser.optional(),
  })
  .meta({ id: 'PublisherMember', description: 'A member of a publisher.' });

const publisher = z
  .object({
    id: text('The id, similar to a user name, in lower case.'),
    name: text('The display name.'),
    description: text('A description of the publisher.'),
    logo: text('The URL of the logo.'),
    website: text('The website of the publisher.'),
    support: text('The support contact.'),
    source_code_repo: text('The repository of the source code.'),
    createdAt: moment('When it was created.'),
    status: publisherStatus.optional(),
    members: z.array(publisherMember).optional(),
  })
  .meta({ id: 'Publisher', description: 'The publisher of a node.' });

const platforms = {
  supported_accelerators: texts('Supported accelerators, such as CUDA, DirectML or ROCm. None means any.'),
  supported_os: texts('Supported operating systems, as classifiers. None means any.'),
  supported_app_version: text('The supported versions of the host application, as a range.'),
  supported_app_frontend_version: text(
    'The supported versions of the host application’s frontend, as a range.',
  ),
};

const nodeVersion = z
  .object({
    id: text('The id of the version.'),
    node_id: text('The id of the node.'),
    version: text('The semantic version, unique within the node.'),
    changelog: text('The changes in this version.'),
    createdAt: moment('When the version was published.'),
    deprecated: z.boolean().describe('Whether the version is deprecated.').optional(),
    dependencies: texts('The packages that the version depends on.'),
    downloadUrl: text('The download URL.'),
    status: nodeVersionStatus.optional(),
    status_reason: text('The reason for the status.'),
    app_node_extract_status: text('The progress of extracting the nodes.'),
    ...platforms,
    tags: texts('Descriptive tags.'),
    tags_admin: texts('Tags set by operators.'),
  })
  .meta({ id: 'NodeVersion', description: 'A published version of a node.' });

/** A node in a list. Fields without a value are absent, never null. */
const registryNode = z
  .object({
    id: text('The unique id of the node.'),
    name: text('The display name.'),
    description: text('A description of the node.'),
    author: text('The author.'),
    category: text('Deprecated: use `tags`.'),
    tags: texts('Descriptive tags.'),
    tags_admin: texts('Tags set by operators, such as security warnings.'),
    created_at: moment('When the node was created.'),
    downloads: number('The number of downloads.'),
    github_stars: number('The number of stars of the GitHub repository.'),
    rating: z.number().describe('The average rating.').optional(),
    search_ranking: number('The rank in search results.'),
    icon: text('The URL of the icon.'),
    banner_url: text('The URL of the banner.'),
    repository: text('The URL of the repository.'),
    license: text('The path of the license in the repository.'),
    latest_version: nodeVersion.optional(),
    publisher: publisher.optional(),
    status: nodeStatus.optional(),
    status_detail: text('The reason for the status.'),
    preempted_app_node_names: texts('The names of the nodes that this one replaces.'),
    ...platforms,
    translations: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .describe('Translations of the metadata, by language.')
      .optional(),
  })
  .meta({ id: 'Node', description: 'A published node.' });

export const registryNodeList = z
  .object({
    nodes: z.array(registryNode),
    page: z.int().describe('The number of this page, from 1.'),
    limit: z.int().min(1).max(100).describe('The actual page size.'),
    total: z.int().min(0).describe('The number of nodes on all pages.'),
    totalPages: z.int().min(0).describe('The number of pages of this size.'),
  })
  .meta({ id: 'NodeList', description: 'One page of nodes.' });

export type RegistryNode = z.infer<typeof registryNode>;
export type RegistryNodeList = z.infer<typeof registryNodeList>;
