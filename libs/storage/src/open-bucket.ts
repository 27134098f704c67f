import { S3Client } from '@aws-sdk/client-s3';
import { BadSettings } from '#schemas';
import type { AssetStore } from './port.js';
import { S3Store } from './s3.js';
import type { StorageSettings } from './settings.js';

/** Opens the bucket of the settings. Throws `BadSettings` if half of a credential is missing. */
export async function openBucket(
  bucket: string,
  settings: StorageSettings,
): Promise<{ store: AssetStore; warnings: string[] }> {
  const { S3_PUBLIC_ENDPOINT: publicEndpoint } = settings;
  const client = s3Client(settings);
  const signer = publicEndpoint === undefined ? client : s3Client(settings, publicEndpoint);
  return { store: new S3Store({ client, signer, bucket }), warnings: await credentialWarnings(client) };
}

/**
 * Maximum number of attempts per call to S3. Retries cover lost connections; the caller decides how to handle
 * longer outages.
 */
const maxAttempts = 3;

/** Creates a client whose waits are all bounded. */
function s3Client(settings: StorageSettings, endpoint = settings.S3_ENDPOINT): S3Client {
  // Silences a notice about future releases of the SDK. The release in use is pinned, and operators could not
  // act on it.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const agent = { keepAlive: true, maxSockets: 128 };
  return new S3Client({
    region: settings.S3_REGION,
    ...(endpoint !== undefined && { endpoint }),
    ...givenCredentials(settings),
    forcePathStyle: settings.S3_FORCE_PATH_STYLE ?? endpoint !== undefined,
    // Not every S3-compatible service supports optional checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts,
    requestHandler: {
      connectionTimeout: 2_000,
      requestTimeout: settings.S3_REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: settings.S3_REQUEST_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

function givenCredentials(settings: StorageSettings) {
  const {
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
    S3_SESSION_TOKEN: sessionToken,
  } = settings;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new BadSettings(['S3_ACCESS_KEY_ID: must be set together with S3_SECRET_ACCESS_KEY']);
  }
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return {
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
  };
}

/** Warnings for the operator about the credentials. */
async function credentialWarnings(client: S3Client): Promise<string[]> {
  try {
    const { sessionToken, expiration } = await client.config.credentials();
    if (sessionToken === undefined) return [];
    const until = expiration ? `, the current ones at ${expiration.toISOString()}` : '';
    return [`The S3 credentials are temporary. Signed asset URLs expire with them${until}.`];
  } catch (error) {
    return [`No S3 credentials were found: ${error instanceof Error ? error.message : String(error)}`];
  }
}
