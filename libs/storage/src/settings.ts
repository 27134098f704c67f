import { areSecrets, BadSettings, countUpTo, list, milliseconds, secretsExpected } from '#schemas';
import { z } from 'zod';

const webUrl = z.url({ protocol: /^https?$/, error: 'must look like https://host' });

/** The settings of the store. Without `S3_BUCKET` it keeps files. */
export const storageSettings = {
  ASSET_DIR: z.string().default('.local/assets').meta({
    description:
      'Directory for assets and large payloads when S3_BUCKET is unset. All gateways and workers must share it.',
    example: '.local/assets',
  }),
  ASSET_BASE_URL: webUrl.optional().meta({
    description:
      'URL at which callers reach the gateways, which serve the files of ASSET_DIR; signed asset URLs start with it. Required without S3_BUCKET.',
    example: 'https://router.example.com',
  }),
  SIGNING_SECRET: list().meta({
    description:
      'Secret that signs page cursors and file URLs and seals the outcomes that workers send to gateways, at least 32 characters. Use the same value in all processes. While it rotates, list the new value, a comma and the old one.',
    example: 'replace-me-with-at-least-32-random-characters',
  }),
  STORE_DOUBT_SECONDS: countUpTo(
    365 * 86_400,
    3600,
    'How long an object that no run needs yet is kept in the store, in seconds, at most a year. Keep it longer than any upload takes.',
  ),
  STORE_PAYLOAD_MS: milliseconds(
    20_000,
    'Time limit for storing a large input or output, and for opening one, in milliseconds.',
  ),
  S3_BUCKET: z.string().min(1).optional().meta({
    description: 'S3 bucket for assets and large payloads. If unset, they are files in ASSET_DIR.',
    example: 'router-assets',
  }),
  S3_ENDPOINT: webUrl.optional().meta({
    description: 'URL of an S3-compatible service. If unset, AWS in S3_REGION.',
    example: 'https://s3.internal.example.com',
  }),
  S3_PUBLIC_ENDPOINT: webUrl.optional().meta({
    description:
      'URL at which callers reach the same service; signed URLs start with it. If unset, S3_ENDPOINT.',
    example: 'https://assets.example.com',
  }),
  S3_REGION: z.string().default('us-east-1').meta({
    description: 'Region of the bucket; every signature contains it.',
    example: 'us-east-1',
  }),
  S3_ACCESS_KEY_ID: z.string().optional().meta({
    description:
      'Access key for the bucket. If unset, the credentials that AWS provides to the machine or pod.',
    example: 'AKIAIOSFODNN7EXAMPLE',
  }),
  S3_SECRET_ACCESS_KEY: z.string().optional().meta({
    description: 'Secret key that belongs to S3_ACCESS_KEY_ID.',
    example: 'replace-me',
  }),
  S3_SESSION_TOKEN: z.string().optional().meta({
    description:
      'Session token of temporary credentials. Links signed with them stop working when they expire.',
    example: 'replace-me',
  }),
  S3_FORCE_PATH_STYLE: z.stringbool().optional().meta({
    description:
      'Whether the bucket is in the URL’s path instead of its host name. If unset, true with S3_ENDPOINT and false on AWS.',
    example: 'true',
  }),
  S3_REQUEST_TIMEOUT_MS: milliseconds(
    30_000,
    'Time limit for an S3 response to begin, and for each pause within it, in milliseconds.',
  ),
};

/** For processes that sign or seal, whichever store they use. */
export const signingSettings = {
  SIGNING_SECRET: storageSettings.SIGNING_SECRET.refine(areSecrets, { message: secretsExpected }),
};

export type SigningSettings = z.infer<z.ZodObject<typeof signingSettings>>;
export type StorageSettings = z.infer<z.ZodObject<typeof storageSettings>>;

/** The settings of a store that keeps files. Throws `BadSettings` naming those that are missing. */
export function filesSettings(settings: StorageSettings) {
  const { ASSET_DIR: root, ASSET_BASE_URL: baseUrl, SIGNING_SECRET: secrets } = settings;
  const problems: string[] = [];
  if (baseUrl === undefined) problems.push('ASSET_BASE_URL: is required, since S3_BUCKET is not set');
  if (!areSecrets(secrets)) problems.push(`SIGNING_SECRET: ${secretsExpected}, since S3_BUCKET is not set`);
  if (baseUrl === undefined || problems.length > 0) throw new BadSettings(problems);
  return { root, baseUrl, secrets };
}
