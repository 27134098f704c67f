import { BadSettings, countUpTo, list, milliseconds } from '#schemas';
import { z } from 'zod';

const webUrl = z.url({ protocol: /^https?$/, error: 'must look like https://host' });

/** The settings of the store. Without `S3_BUCKET` it keeps files. */
export const storageSettings = {
  ASSET_DIR: z.string().default('.local/assets').meta({
    description: 'Folder for assets and large payloads when no S3 bucket is set; shared by all processes.',
    example: '.local/assets',
  }),
  ASSET_BASE_URL: webUrl.optional().meta({
    description:
      'Where callers reach the gateways that serve the files of ASSET_DIR; signed asset URLs start with it. Needed without an S3 bucket.',
    example: 'https://router.example.com',
  }),
  SIGNING_SECRET: list().meta({
    description:
      'Secret that signs page cursors and the URLs of files, and seals the outcomes that workers announce to gateways, at least 32 characters, the same for all processes. While it rotates: the new one, a comma, the old one.',
    example: 'replace-me-with-at-least-32-random-characters',
  }),
  STORE_DOUBT_SECONDS: countUpTo(
    365 * 86_400,
    3600,
    'How long an object may be in the store without a run that needs it; then it is deleted. Longer than any upload may take, a year at most.',
  ),
  STORE_PAYLOAD_MS: milliseconds(
    20_000,
    'Time limit for storing a large input or output, and for opening one.',
  ),
  S3_BUCKET: z.string().min(1).optional().meta({
    description: 'Bucket for assets and large payloads. Absent: files in ASSET_DIR.',
    example: 'router-assets',
  }),
  S3_ENDPOINT: webUrl.optional().meta({
    description: 'Address of an S3-compatible service. Absent: AWS in S3_REGION.',
    example: 'https://s3.internal.example.com',
  }),
  S3_PUBLIC_ENDPOINT: webUrl.optional().meta({
    description: 'Address of the same service as callers reach it, for signed URLs. Absent: S3_ENDPOINT.',
    example: 'https://assets.example.com',
  }),
  S3_REGION: z.string().default('us-east-1').meta({
    description: 'Region of the bucket; part of every signature.',
    example: 'us-east-1',
  }),
  S3_ACCESS_KEY_ID: z.string().optional().meta({
    description: 'Access key of the bucket. Absent: the credentials that AWS gives the machine or the pod.',
    example: 'AKIAIOSFODNN7EXAMPLE',
  }),
  S3_SECRET_ACCESS_KEY: z.string().optional().meta({
    description: 'Secret of S3_ACCESS_KEY_ID.',
    example: 'replace-me',
  }),
  S3_SESSION_TOKEN: z.string().optional().meta({
    description: 'Token of temporary credentials. Links that they signed die with them.',
    example: 'replace-me',
  }),
  S3_FORCE_PATH_STYLE: z.stringbool().optional().meta({
    description:
      'Whether the bucket stands in the path instead of the host name. Absent: yes with S3_ENDPOINT, no on AWS.',
    example: 'true',
  }),
  S3_REQUEST_TIMEOUT_MS: milliseconds(
    30_000,
    'Time limit for a response of S3 to begin, and for each pause within one.',
  ),
};

const areSecrets = (secrets: readonly string[]): boolean =>
  secrets.length > 0 && secrets.every((secret) => secret.length >= 32);
const secretsExpected = 'expected one or two secrets of at least 32 characters, separated by a comma';

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
  if (baseUrl === undefined) problems.push('ASSET_BASE_URL: expected a URL, since S3_BUCKET is not set');
  if (!areSecrets(secrets)) problems.push(`SIGNING_SECRET: ${secretsExpected}, since S3_BUCKET is not set`);
  if (baseUrl === undefined || problems.length > 0) throw new BadSettings(problems);
  return { root, baseUrl, secrets };
}
