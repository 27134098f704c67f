import { catalogSettings } from '#catalog';
import { databaseSettings, retentionSettings } from '#persistence';
import { observabilitySettings } from '#observability';
import { providerKeySettings, providerSettings, simulatorSettings } from '#providers';
import { queueSettings } from '#queue';
import { count, countUpTo, encryptionKeySettings, list, milliseconds, webhookSettings } from '#schemas';
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
  ...simulatorSettings,
  ...encryptionKeySettings,
  ...storageSettings,
  ...signingSettings,
  ...webhookSettings,
  WORKER_DISPATCH_CONCURRENCY: count(
    250,
    'Concurrency slots for submissions, per provider and worker. One workspace gets at most three quarters of them. Raise it if a provider holds its calls until the result is ready.',
  ),
  WORKER_POLL_CONCURRENCY: count(
    200,
    'Concurrency slots for polls and fetches, per provider and worker, so that a provider that hangs does not delay the others.',
  ),
  WORKER_CLOSE_MS: milliseconds(
    8000,
    'How long a stopping worker waits for submissions in flight, in milliseconds, and for at most 8 s of that for other calls. A submission that is cut off fails its run, although the provider may charge for it.',
  ),
  SPILL_DIR: z.string().min(1).optional().meta({
    description:
      'Folder for what providers answered and Postgres did not take before the worker stopped, sealed with SIGNING_SECRET. The next worker that starts with the folder saves it. If unset, such answers are lost with the worker.',
    example: '/var/lib/model-router/spill',
  }),
  CLAIM_LEASE_MS: milliseconds(
    15_000,
    'How long a worker owns a claimed run without renewing its lease, in milliseconds. Afterwards another worker finds the run.',
  ),
  RETENTION_EVERY_MS: milliseconds(
    60_000,
    'Pause between two rounds that delete expired rows and objects, in milliseconds.',
  ),
  MAX_CRASHES: count(
    5,
    'Number of claims of a run that may end in a crash before the run fails as internal_error.',
  ),
  // Higher than MAX_CRASHES, because polls can be repeated safely and the provider bills the run anyway. A
  // killed worker is noticed within 19 s, so ten consecutive crashes take three minutes, well within the time
  // budget that ends the run anyway.
  MAX_POLL_CRASHES: count(
    10,
    'Number of consecutive polls of a run that may end in a crash before the run fails as internal_error.',
  ),
  PROVIDER_POLL_TIMEOUT_MS: milliseconds(
    20_000,
    'Time limit for a poll, fetch or cancel call to a provider, reply included, in milliseconds.',
  ),
  PROVIDER_POLL_PAUSE_MS: milliseconds(
    60_000,
    'Maximum pause between two polls of a run, in milliseconds. A provider that declares a shorter one keeps it.',
  ),
  PROVIDER_MAX_PAUSE_MS: milliseconds(
    60_000,
    'Maximum time for which a Retry-After pauses all submissions, or all polls, to a provider, in milliseconds. The throttled run itself waits as long as the provider asked.',
  ),
  PROVIDER_REPLY_LIMIT: count(64 * mebibyte, 'Maximum size of a provider’s JSON reply, in bytes.'),
  STREAM_MAX_BYTES: count(
    32 * mebibyte,
    'Maximum size of an event stream from a provider, in bytes. A longer one is cut off and its run fails.',
  ),
  STREAM_IDLE_MS: milliseconds(
    120_000,
    'How long a provider’s event stream may pause, in milliseconds. Then it is cut off and its run fails as provider_timeout.',
  ),
  WORKER_BODY_BUDGET: count(
    256 * mebibyte,
    'Maximum total size of the inputs and replies that a worker holds at once, in bytes. Workspaces share it, so that there is always room for another one, and one alone gets about half. Further ones wait, except small ones.',
  ),
  WORKER_ASSET_CONCURRENCY: count(
    20,
    'Concurrency slots for copying the assets of runs, per provider and worker.',
  ),
  ASSET_COPY_MS: milliseconds(
    45_000,
    'Time limit for copying all assets of a result, in milliseconds; the rest keep the provider’s URLs. Together with the longest time budget of a model, keep it below SYNC_DEADLINE_MS.',
  ),
  ASSET_MAX_BYTES: count(
    2048 * mebibyte,
    'Maximum size of an asset, or of a reply that is not JSON, that is copied, in bytes.',
  ),
  ASSET_MEDIA_TYPES: list(
    'image/*,video/*,audio/*,model/*,application/octet-stream,binary/octet-stream,application/zip,application/json,text/plain',
  ).meta({
    description: 'Media types of assets that are copied, separated by commas; `*` matches any subtype.',
    example: 'image/*,video/*',
  }),
  ASSET_URL_TTL: countUpTo(
    maxSignedSeconds,
    86_400,
    'How long the URL of a copied asset works, in seconds, at most a week. It is signed once.',
  ),
  CALLER_DNS_SERVERS: list()
    .refine(
      areServers,
      'must look like 10.0.0.2, 10.0.0.2:5353 or [2001:db8::2]:53, several separated by commas',
    )
    .meta({
      description:
        'DNS servers for host names in URLs from callers and providers, separated by commas, with a port if it is not 53. If unset, those of /etc/resolv.conf. The operating system resolves the hosts that you configure.',
      example: '10.0.0.2,10.0.0.3:5353',
    }),
  ASSET_ALLOWED_ORIGINS: list().meta({
    description:
      'Origins that URLs in providers’ replies may use although they are not public or not https, separated by commas.',
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
