import { bindProviders } from '#providers';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { findAssets } from '../../apps/worker/src/bytes/found-assets.js';
import { replaceStrings, withMembersFirst } from '#schemas';
import { brokenBooks } from './books.js';
import type { Submitted } from './caller.js';
import { sha256 } from './digest.js';
import { storedFiles } from './stored-files.js';
import type { SystemSide } from './system-side.js';
import { waitFor } from './wait-for.js';

/**
 * The invariants of the service, whatever a test did to it. Throws one error that lists every broken rule.
 *
 * Each rule has a number: outcomes (1), submissions (2), counters and money (3), bytes (4), headers (5, checked
 * by `Caller` on each answer), logs (6), storage (7), queues (8).
 *
 * An aged-out run has no input left to compare, so the test passes such runs, as they were submitted.
 */
export async function holdToInvariants(
  system: SystemSide,
  withinMs = 30_000,
  agedOut: readonly Submitted[] = [],
): Promise<void> {
  await waitFor(() => noneLives(system), { withinMs, what: 'every run to reach its outcome', everyMs: 100 });
  const broken = (
    await Promise.all([
      outcomes(system),
      submissions(system, agedOut),
      brokenBooks(system.store),
      bytes(system),
      stored(system),
      logs(system),
      queues(system),
    ])
  ).flat();
  if (broken.length > 0)
    throw new Error(`Broken invariants:\n${broken.map((line) => `  ${line}`).join('\n')}`);
}

/** Throws with the first of the live runs. */
async function noneLives(system: SystemSide): Promise<true> {
  const live = await system.sql<{ id: string; model: string; stage: string; workspace: string }>(
    `SELECT run.id, model, stage, name AS workspace FROM run JOIN workspace ON workspace.id = workspace_id
     WHERE stage <> 'completed' ORDER BY run.id LIMIT 5`,
  );
  const lines = live.map((run) => `${run.id} of ${run.model} in ${run.workspace} is ${run.stage}`);
  if (lines.length > 0) throw new Error(lines.join(', '));
  return true;
}

/** I1: each run has one terminal row or tombstone and an audit record; no delivery is left. */
async function outcomes(system: SystemSide): Promise<string[]> {
  const [row] = await system.sql<{ runs: number; audited: number; deliveries: number; untold: number }>(
    `WITH known AS (SELECT id FROM run WHERE NOT facts ? 'unlisted' UNION ALL SELECT run_id FROM tombstone)
     SELECT (SELECT count(*) FROM known)::integer AS runs,
       (SELECT count(*) FROM known JOIN audit_record ON audit_record.run_id = known.id)::integer AS audited,
       (SELECT count(*) FROM outbox)::integer AS deliveries,
       (SELECT count(*) FROM run WHERE call ? 'webhook' AND (SELECT count(*) FROM webhook WHERE run_id = run.id) <> 1)::integer AS untold`,
  );
  const broken: string[] = [];
  if (row?.runs !== row?.audited) broken.push(`I1 ${row?.runs} runs, ${row?.audited} audit records`);
  if (row?.deliveries !== 0) broken.push(`I1 ${row?.deliveries} outbox rows are left`);
  if (row?.untold !== 0) broken.push(`I1 ${row?.untold} runs lack their requested webhook`);
  return broken;
}

interface SubmittedRun {
  runId: string;
  provider: string;
  model: string;
  upstream: Record<string, string>;
  members: Record<string, string> | null;
  streams: boolean;
  body: Buffer;
}

/** I2: each accepted submission belongs to one run, no run has two, and a run that was never sent has none. */
async function submissions(system: SystemSide, agedOut: readonly Submitted[]): Promise<string[]> {
  const runs = await system.sql<Omit<SubmittedRun, 'body'> & { body: Buffer | null; sent: boolean }>(
    `SELECT run.id AS "runId", run.provider, run.model, run.facts -> 'upstream' AS upstream, run.facts -> 'members' AS members,
       run.facts ? 'streams' AS streams,
       payload.body,
       (run.dispatched_at IS NOT NULL OR run.sent_at IS NOT NULL) AS sent FROM run JOIN payload ON payload.run_id = run.id AND payload.kind = 'input'`,
  );
  const allowed = new Map<string, number>();
  /** Submissions by provider whose input names files, so that their bytes cannot be derived from it. */
  const withFiles = new Map<string, number>();
  const { providers } = bindProviders(system.env());
  for (const { sent, provider, ...run } of runs) {
    if (!sent) continue;
    const input = run.body ?? (await system.payload(run.runId, 'input')) ?? Buffer.alloc(0);
    const body = withMembersFirst(input, run.members ?? {});
    const adapter = providers.get(provider)?.adapter;
    if (adapter?.files?.({ ...run, body }).length) {
      withFiles.set(provider, (withFiles.get(provider) ?? 0) + 1);
      continue;
    }
    // If a provider needs the input in another form, its adapter produces it.
    const digest = sha256(Buffer.from(adapter?.submit({ ...run, body }).body ?? body));
    allowed.set(digest, (allowed.get(digest) ?? 0) + 1);
  }
  const broken: string[] = [];
  for (const { requestId, body } of agedOut) {
    const left = await system.sql('SELECT 1 FROM run WHERE id = $1', [requestId]);
    if (left.length > 0) broken.push(`I2 run ${requestId} was listed as aged out, but still exists`);
    const digest = sha256(body);
    allowed.set(digest, (allowed.get(digest) ?? 0) + 1);
  }
  const accepted = new Map<string, { provider: string; times: number }>();
  for (const { bodySha256, provider } of await system.provider.ledger()) {
    accepted.set(bodySha256, { provider, times: (accepted.get(bodySha256)?.times ?? 0) + 1 });
  }
  for (const [digest, { provider, times }] of accepted) {
    const may = allowed.get(digest) ?? 0;
    const spare = withFiles.get(provider) ?? 0;
    if (times > may) withFiles.set(provider, spare - (times - may));
    if (times > may + spare)
      broken.push(
        `I2 ${times} accepted submissions for ${may} dispatched runs with input ${digest.slice(0, 12)}`,
      );
  }
  const violations = await system.provider.violations();
  if (violations > 0)
    broken.push(`I2 ${violations} requests carried our key where it must not go, or a header of ours`);
  return broken;
}

/** I4: a result equals what the provider returns when polled again, except for the URLs of its assets. */
async function bytes(system: SystemSide): Promise<string[]> {
  const rows = await system.sql<{
    id: string;
    handle: { pollUrl?: string; responseUrl?: string };
    assets: string[];
  }>(
    `SELECT id, handle, facts -> 'assets' AS assets FROM run
     WHERE outcome = 'succeeded' AND provider IN ('bfl', 'fal') ORDER BY random() LIMIT 20`,
  );
  const broken = await Promise.all(
    rows.map(async ({ id, handle, assets }) => {
      const url = handle.responseUrl ?? handle.pollUrl ?? '';
      const response = await fetch(url, {
        headers: handle.responseUrl ? { authorization: 'Key oracle' } : {},
        signal: AbortSignal.timeout(30_000),
      });
      const theirs = Buffer.from(await response.arrayBuffer());
      const ours = (await system.payload(id, 'output')) ?? Buffer.alloc(0);
      return withoutAssets(theirs, assets).equals(withoutAssets(ours, assets))
        ? []
        : [`I4 the result of ${id} differs from the provider's bytes`];
    }),
  );
  return broken.flat();
}

const withoutAssets = (output: Buffer, pointers: readonly string[]): Buffer =>
  replaceStrings(
    output,
    findAssets(output, pointers).map((asset) => ({ ...asset, text: 'asset' })),
  );

/** I7: every stored file has a row, every stored payload has a file, and no copy was left half-written. */
async function stored(system: SystemSide): Promise<string[]> {
  const files = storedFiles(system.assets);
  const keys = await system.sql<{ key: string }>('SELECT key FROM stored_object');
  const known = new Set(keys.map(({ key }) => key));
  const missing = await system.sql<{ stored_as: string }>(
    'SELECT stored_as FROM payload WHERE stored_as IS NOT NULL',
  );
  return [
    ...files
      .filter((file) => file.startsWith('~incoming/') && isStale(system, file))
      .map((file) => `I7 ${file} was left half-written`),
    ...files
      .filter((file) => !file.startsWith('~') && !known.has(file.replace(/~type$/, '')))
      // A row is deleted only after its object is gone.
      .filter((file) => existsSync(path.join(system.assets, file)))
      .map((file) => `I7 no row names the stored ${file}`),
    ...missing
      .filter(({ stored_as: key }) => !files.includes(key))
      .map(({ stored_as: key }) => `I7 ${key} is not in the store`),
  ];
}

/** A file that a killed worker began to write stays for as long as a put may take. */
function isStale(system: SystemSide, file: string): boolean {
  const doubtMs = Number(system.env()['STORE_DOUBT_SECONDS'] ?? 3600) * 1000;
  const facts = statSync(path.join(system.assets, file), { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs > doubtMs + 10_000;
}

/** I6: no unhandled rejection, and neither a key nor a body in any log. */
async function logs(system: SystemSide): Promise<string[]> {
  return system.apps.flatMap((app) => {
    const text = app.logs();
    const broken: string[] = [];
    if (/unhandledRejection|UnhandledPromiseRejection|uncaughtException/.test(text)) {
      broken.push(`I6 ${app.name} had an unhandled rejection`);
    }
    if (system.secrets.some((secret) => text.includes(secret)) || /provider-key-/.test(text)) {
      broken.push(`I6 ${app.name} logged a secret`);
    }
    if (text.includes('"prompt"')) broken.push(`I6 ${app.name} logged a body`);
    return broken;
  });
}

/** I8: no job is left in the queues. A leftover that a sweep delivered twice disappears by itself. */
async function queues(system: SystemSide): Promise<string[]> {
  try {
    await waitFor(async () => (await waitingJobs(system)) === 0, {
      withinMs: 30_000,
      what: 'empty queues',
      everyMs: 200,
    });
    return [];
  } catch {
    return [`I8 ${await waitingJobs(system)} jobs are left in the queues`];
  }
}

async function waitingJobs(system: SystemSide): Promise<number> {
  const urls = (await system.redisNodes?.primariesNow()) ?? (system.redis && [system.redis.url]);
  if (urls) {
    const sizes = await Promise.all(urls.map(jobsOnNode));
    return sizes.reduce((sum, size) => sum + size, 0);
  }
  const [row] = await system.sql<{ jobs: number }>(
    `SELECT count(*)::integer AS jobs FROM outbox WHERE queue IN ('poll', 'assets')`,
  );
  return row?.jobs ?? 0;
}

async function jobsOnNode(url: string): Promise<number> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    // A release with a dispatch queue may have left jobs there, which are ignored now.
    const keys = (await redis.keys('{mr:*')).filter((key) => !key.startsWith('{mr:dispatch}'));
    const sizes = await Promise.all(
      keys.map(async (key) => {
        if (/:(wait|active|paused)$/.test(key)) return redis.llen(key);
        return /:(delayed|prioritized)$/.test(key) ? redis.zcard(key) : 0;
      }),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } finally {
    redis.disconnect();
  }
}
