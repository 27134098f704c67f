import { createHash, createSign } from 'node:crypto';

import { camelName, membersOf } from '#schemas';
import type { ProviderOutput, Run } from '../../contract.js';
import { readServiceAccount } from '../../credentials/service-account.js';

const host = 'storage.googleapis.com';
const linkLifeS = 24 * 3600;

/**
 * Sets `storageUri` in the caller's `parameters` to the run's own folder below `target`, `gs://bucket/folder`. The rest
 * of the body is unchanged.
 */
export function storedBelow(target: string, { runId, body }: Run): Uint8Array {
  const uri = JSON.stringify(`${target}/${runId}/`);
  const member = `"storageUri":${uri}`;
  const parameters = membersOf(body).findLast(({ name }) => name === 'parameters');
  const given =
    parameters && membersOf(body, parameters.start).find(({ name }) => camelName(name) === 'storageUri');
  // A given value is null or empty: rows reject a target from the caller.
  if (given)
    return Buffer.concat([body.subarray(0, given.start), Buffer.from(uri), body.subarray(given.end)]);
  const open = parameters?.start ?? body.indexOf('{'.charCodeAt(0));
  const added = parameters ? member : `"parameters":{${member}}`;
  const comma = membersOf(body, open).length > 0 ? ',' : '';
  return Buffer.concat([body.subarray(0, open + 1), Buffer.from(added + comma), body.subarray(open + 1)]);
}

const found = /("gcsUri"\s*:\s*)"gs:\/\/([^"/\\]+)\/([^"\\]+)"/g;

/**
 * Replaces each address in `folder`, the run's own, by a signed link that is valid for 24 hours. Other addresses stay: a
 * caller may influence the model's answer, and must not get links to another run's results.
 */
export function withSignedLinks(
  output: ProviderOutput,
  folder: string,
  secret: string,
  nowMs: number,
): ProviderOutput {
  // A stored reply is too large to contain links: it contains the videos themselves.
  if ('storedAs' in output.body) return output;
  const text = new TextDecoder().decode(output.body);
  const signed = text.replaceAll(found, (whole, name: string, bucket: string, object: string) =>
    `gs://${bucket}/${object}`.startsWith(`${folder}/`)
      ? `${name}${JSON.stringify(signedLink(bucket, object, secret, nowMs))}`
      : whole,
  );
  return signed === text ? output : { ...output, body: Buffer.from(signed) };
}

/** A V4 signed URL of Cloud Storage, signed with the service account's key. */
function signedLink(bucket: string, object: string, secret: string, nowMs: number): string {
  const account = readServiceAccount(secret);
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const credentialScope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
  const path = `/${bucket}/${object.split('/').map(encodeURIComponent).join('/')}`;
  const query = Object.entries({
    'X-Goog-Algorithm': 'GOOG4-RSA-SHA256',
    'X-Goog-Credential': `${account.client_email}/${credentialScope}`,
    'X-Goog-Date': time,
    'X-Goog-Expires': String(linkLifeS),
    'X-Goog-SignedHeaders': 'host',
  })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  const request = ['GET', path, query, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const digest = createHash('sha256').update(request).digest('hex');
  const toSign = ['GOOG4-RSA-SHA256', time, credentialScope, digest].join('\n');
  const signature = createSign('RSA-SHA256').update(toSign).sign(account.private_key, 'hex');
  return `https://${host}${path}?${query}&X-Goog-Signature=${signature}`;
}
