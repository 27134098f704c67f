import { momentOf, nodeStatus, nodeVersionStatus, publisherStatus } from '#schemas';
import { z } from 'zod';

/** Maximum size in bytes of texts that nodes are sorted by, so that they fit into an index. */
const maxSortedBytes = 512;

const text = z.string().nullish();
const texts = z.array(z.string()).nullish();
const count = z.int().nullish();
const moment = z
  .string()
  .transform((given, context) => {
    const time = momentOf(given);
    if (time !== null) return time.toISOString();
    context.addIssue({ code: 'custom', message: 'expected a time in ISO 8601' });
    return z.NEVER;
  })
  .nullish();
const bounded = (minLength: number) =>
  z
    .string()
    .min(minLength)
    .refine((given) => Buffer.byteLength(given) <= maxSortedBytes, `at most ${maxSortedBytes} bytes`);
const sorted = bounded(0).nullish();

const platforms = {
  supported_accelerators: texts,
  supported_os: texts,
  supported_app_version: text,
  supported_app_frontend_version: text,
};

const member = z.object({
  id: text,
  role: text,
  user: z.object({ id: text, name: text, email: text }).nullish(),
});

export const publisherShape = z.object({
  id: bounded(1).toLowerCase(),
  name: text,
  description: text,
  logo: text,
  website: text,
  support: text,
  source_code_repo: text,
  createdAt: moment,
  status: publisherStatus.nullish(),
  members: z.array(member).nullish(),
});

export const versionShape = z.object({
  version: bounded(1),
  id: text,
  changelog: text,
  createdAt: moment,
  deprecated: z.boolean().nullish(),
  dependencies: texts,
  downloadUrl: text,
  status: nodeVersionStatus.nullish(),
  status_reason: text,
  app_node_extract_status: text,
  ...platforms,
  tags: texts,
  tags_admin: texts,
});

/** Some registries write `{}` for an unknown object. */
const unlessEmpty = <Shape extends z.ZodType>(shape: Shape) =>
  z.preprocess((given) => (JSON.stringify(given) === '{}' ? undefined : given), shape.nullish()).optional();

/**
 * A node in a file or from another registry: the shape of the API or a part of it. Every field except ids may
 * be null or absent. `versions` holds versions besides the latest one, and `publisher_id` may replace a
 * publisher of which nothing else is known. Other fields are ignored.
 */
export const nodeShape = z.object({
  id: bounded(1),
  name: sorted,
  description: text,
  author: sorted,
  category: sorted,
  tags: texts,
  tags_admin: texts,
  created_at: moment,
  downloads: count,
  github_stars: count,
  rating: z.number().nullish(),
  search_ranking: count,
  icon: text,
  banner_url: text,
  repository: text,
  license: text,
  status: nodeStatus.nullish(),
  status_detail: text,
  preempted_app_node_names: texts,
  ...platforms,
  translations: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
  latest_version: unlessEmpty(versionShape),
  versions: z.array(versionShape).nullish(),
  publisher: unlessEmpty(publisherShape),
  publisher_id: bounded(1).toLowerCase().nullish(),
});

export type GivenMember = z.output<typeof member>;
export type GivenNode = z.output<typeof nodeShape>;
export type GivenVersion = z.output<typeof versionShape>;
export type GivenPublisher = z.output<typeof publisherShape>;
