import { z } from 'zod';

const text = (description: string) => z.string().describe(description).optional();
const texts = (description: string) => z.array(z.string()).describe(description).optional();
const moment = (description: string) => z.iso.datetime({ offset: true }).describe(description).optional();
const number = (description: string) => z.int().describe(description).optional();

export const nodeStatus = z
  .enum(['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned'])
  .meta({ id: 'NodeStatus', description: 'The state of a node; deleted ones are never listed.' });

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
    id: text('The user.'),
    name: text('The user’s name.'),
    email: text('E-mail address; never listed.'),
  })
  .meta({ id: 'PublisherUser', description: 'A person.' });

const publisherMember = z
  .object({
    id: text('The membership.'),
    role: text('What the user may do for the publisher.'),
    user: publisherUser.optional(),
  })
  .meta({ id: 'PublisherMember', description: 'A user of a publisher.' });

const publisher = z
  .object({
    id: text('Akin to a user name; lower case.'),
    name: text('Display name.'),
    description: text('About the publisher.'),
    logo: text('URL of the logo.'),
    website: text('The publisher’s pages.'),
    support: text('Where users find help.'),
    source_code_repo: text('Where the code is.'),
    createdAt: moment('When it was created.'),
    status: publisherStatus.optional(),
    members: z.array(publisherMember).optional(),
  })
  .meta({ id: 'Publisher', description: 'Who publishes a node.' });

const platforms = {
  supported_accelerators: texts('Accelerators such as CUDA, DirectML, ROCm; none listed means any.'),
  supported_os: texts('Operating systems as classifiers; none listed means any.'),
  supported_app_version: text('Range of versions of the host application.'),
  supported_app_frontend_version: text('Range of versions of the host application’s frontend.'),
};

const nodeVersion = z
  .object({
    id: text('The version’s own id.'),
    node_id: text('The node it is a version of.'),
    version: text('Semantic version; unique within the node.'),
    changelog: text('What changed.'),
    createdAt: moment('When it was published.'),
    deprecated: z.boolean().describe('Whether it should no longer be used.').optional(),
    dependencies: texts('Packages that it needs.'),
    downloadUrl: text('Where it can be downloaded.'),
    status: nodeVersionStatus.optional(),
    status_reason: text('Why it has its status.'),
    app_node_extract_status: text('How far its nodes have been extracted.'),
    ...platforms,
    tags: texts('Words that describe it.'),
    tags_admin: texts('Tags set by operators.'),
  })
  .meta({ id: 'NodeVersion', description: 'A published version of a node.' });

/** A node as it is listed. A field that has no value is absent, never null. */
const registryNode = z
  .object({
    id: text('Unique.'),
    name: text('Display name.'),
    description: text('What it is for.'),
    author: text('Who wrote it.'),
    category: text('Deprecated: use `tags`.'),
    tags: texts('Words that describe it.'),
    tags_admin: texts('Tags set by operators, such as security warnings.'),
    created_at: moment('When it was created.'),
    downloads: number('How often it was downloaded.'),
    github_stars: number('Stars of its repository.'),
    rating: z.number().describe('Average rating.').optional(),
    search_ranking: number('A value that search results are sorted by.'),
    icon: text('URL of the icon.'),
    banner_url: text('URL of the banner.'),
    repository: text('URL of the repository.'),
    license: text('Path of the license within the repository.'),
    latest_version: nodeVersion.optional(),
    publisher: publisher.optional(),
    status: nodeStatus.optional(),
    status_detail: text('Why it has its status.'),
    preempted_app_node_names: texts('Names of nodes that this one replaces.'),
    ...platforms,
    translations: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .describe('Translated metadata by language.')
      .optional(),
  })
  .meta({ id: 'Node', description: 'A published node.' });

export const registryNodeList = z
  .object({
    nodes: z.array(registryNode),
    page: z.int().describe('The number of this page, from 1.'),
    limit: z.int().min(1).max(100).describe('The page size actually served.'),
    total: z.int().min(0).describe('How many nodes there are on all pages.'),
    totalPages: z.int().min(0).describe('How many pages of the served size there are.'),
  })
  .meta({ id: 'NodeList', description: 'One page of nodes.' });

export type RegistryNode = z.infer<typeof registryNode>;
export type RegistryNodeList = z.infer<typeof registryNodeList>;
