import { catalogSettings } from '#catalog';
import { databaseSettings, retentionSettings } from '#persistence';
import { observabilitySettings } from '#observability';
import { providerKeySettings, providerSettings } from '#providers';
import { queueSettings } from '#queue';
import { count, countUpTo, list, milliseconds, webhookSettings } from '#schemas';
import { maxSignedSeconds, signingSettings, storageSettings } from '#storage';
import { Resolver } from 'node:dns';
import { z } from 'zod';
import { boardSettings } from './board.js';

const mebibyte = 1024 * 1024;

function areServers(servers: readonly string[]): boolean {
  try {
    new Resolver().setServers(servers);
    return true;
  } catch {
    return false;
  }
}

export const workerSettings = {
  ...observabilitySettings,
  ...queueSettings,
  ...boardSettings,
  ...databaseSettings,
  ...retentionSettings,
  ...catalogSettings,
  ...providerSettings,
  ...providerKeySettings,
  ...storageSettings,
  ...signingSettings,
  ...webhookSettings,
  WORKER_DISPATCH_CONCURRENCY: count(
    250,
    'Concurrency slots for submissions, per provider and worker. One workspace holds at most three quarters of them, so that another one’s run need not wait for it.',
  ),
  WORKER_POLL_CONCURRENCY: count(
    200,
    'Concurrency slots for polls and fetches, per provider and worker: providers whose polls hang hold up no other provider’s.',
  ),
  WORKER_CLOSE_MS: milliseconds(
    8000,
    'How long a stopping worker waits for submissions in the air, and at most 8 s of it for other calls. A submission that is cut fails its run, and may have been paid for.',
  ),
  CLAIM_LEASE_MS: milliseconds(
    15_000,
    'How long a claim stands without renewal; a crashed dispatch is found again after it.',
  ),
  RETENTION_EVERY_MS: milliseconds(
    60_000,
    'Pause between two rounds that delete what has aged out, in milliseconds.',
  ),
  MAX_CRASHES: count(
    5,
    'Claims of one run that may end in a crash before the run is put aside as internal_error.',
  ),
  // Higher than MAX_CRASHES, because polls can be repeated safely and the generation is already paid for. A
  // killed worker is noticed within 19 s, so ten consecutive crashes take three minutes, well within the time
  // budget that ends the run anyway.
  MAX_POLL_CRASHES: count(
    10,
    'Polls of one run that may in a row end in a crash before the run is put aside as internal_error.',
  ),
  PROVIDER_POLL_TIMEOUT_MS: milliseconds(
    20_000,
    'Longest a poll, fetch or cancel call to a provider may take, reply included.',
  ),
  PROVIDER_POLL_PAUSE_MS: milliseconds(
    60_000,
    'Longest pause between two polls of a run, in milliseconds; a provider whose declaration is quicker stays so.',
  ),
  PROVIDER_MAX_PAUSE_MS: milliseconds(
    60_000,
    'Longest pause of all submissions, or all polls, to a provider that refuses one and names a time (Retry-After), in milliseconds. The refused run itself waits as long as it was asked to.',
  ),
  PROVIDER_REPLY_LIMIT: count(64 * mebibyte, 'Largest JSON reply of a provider that is read, in bytes.'),
  WORKER_BODY_BUDGET: count(
    256 * mebibyte,
    'Most bytes of all inputs and replies that a worker holds at once; what comes above it waits for its turn.',
  ),
  WORKER_ASSET_CONCURRENCY: count(
    20,
    'Concurrency slots for runs whose assets are copied, per provider and worker.',
  ),
  ASSET_COPY_MS: milliseconds(
    45_000,
    'Longest the copies of all assets of a result may take together; then the URLs of the rest stay the provider’s. With the longest time budget of a model it should stay below SYNC_DEADLINE_MS.',
  ),
  ASSET_MAX_BYTES: count(
    2048 * mebibyte,
    'Largest asset, and largest reply that is not JSON, that is copied, in bytes.',
  ),
  ASSET_MEDIA_TYPES: list(
    'image/*,video/*,audio/*,model/*,application/octet-stream,binary/octet-stream,application/zip,application/json,text/plain',
  ).meta({
    description: 'Media types of assets that are copied, separated by commas; `*` stands for any subtype.',
    example: 'image/*,video/*',
  }),
  ASSET_URL_TTL: countUpTo(
    maxSignedSeconds,
    86_400,
    'How long the URL of a copied asset opens it, in seconds, a week at most; it is signed once.',
  ),
  CALLER_DNS_SERVERS: list()
    .refine(areServers, 'must be addresses such as 10.0.0.2, 10.0.0.2:5353 or [2001:db8::2]:53')
    .meta({
      description:
        'DNS servers that resolve the host names which callers and providers’ replies give, separated by commas, each with a port if it is not 53. Absent: those of /etc/resolv.conf. Hosts that the operator configures are resolved by the operating system.',
      example: '10.0.0.2,10.0.0.3:5353',
    }),
  ASSET_ALLOWED_ORIGINS: list().meta({
    description:
      'Origins that a URL out of a provider’s reply may name although they are not https or not public, exactly as written.',
    example: 'http://127.0.0.1:8082',
  }),
};

export type WorkerSettings = z.infer<z.ZodObject<typeof workerSettings>>;

/**
 * How long a stopping worker waits for polls, copies and webhooks. Other workers can repeat them at no cost,
 * so it does not wait as long as for submissions.
 */
export const repeatableGraceMs = ({ WORKER_CLOSE_MS }: Pick<WorkerSettings, 'WORKER_CLOSE_MS'>): number =>
  Math.min(WORKER_CLOSE_MS, 8_000);
