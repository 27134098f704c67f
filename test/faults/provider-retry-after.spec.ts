import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { answerOf } from '../admin/run-admin.js';
import { holdToInvariants, System } from '../harness/faults.js';
import {
  type Caller,
  failOnLeftovers,
  type Submitted,
  temporaryFolder,
  transports,
  waitFor,
} from '../harness/index.js';
import { metric } from './metrics.js';

const askedMs = 10_000;
const crowd = Array.from({ length: 20 }, (_, index) => index);

/** A row like Luma's own, with a time budget of two seconds. */
const hasty = `id: luma/hasty
upstream: { path: generations/video }
charges_on_policy_rejection: unknown
price: { usd: 0.001 }
budget_seconds: 2
`;

interface Listed {
  providers: { provider: string; pauses: { calls: string; asked_by: string; until?: string }[] }[];
}

let system: System;
let caller: Caller;
const admin = <T>(...words: string[]) =>
  answerOf<T>({ DATABASE_URL: system.database.url }, 'provider', ...words);
/** The model's name, for providers that take it in the body. */
const named: Record<string, string> = {
  'luma/hasty': 'ray-2',
  'openai/gpt-image-2': 'gpt-image-2',
};
const submit = (model: string, prompt: string, headers = {}) =>
  caller.submit(model, JSON.stringify({ prompt, model: named[model] }), { headers });
const completed = (runs: readonly Submitted[]) => Promise.all(runs.map((run) => caller.completed(run)));

/** When requests whose path starts with `start` reached the provider, by the provider's clock. */
async function arrivals(start: string, method: string): Promise<number[]> {
  const response = await fetch(`${system.simulator.url}/requests?method=${method}&path=${start}`);
  return ((await response.json()) as { requests: { atMs: number }[] }).requests.map(({ atMs }) => atMs);
}

const paused = (provider: string, calls: string) =>
  waitFor(
    async () => {
      const [pause] = await system.sql<{ since: Date; until: Date }>(
        'SELECT since, until FROM provider_pause WHERE provider = $1 AND calls = $2',
        [provider, calls],
      );
      return pause ?? false;
    },
    { withinMs: 30_000, what: `${provider} to be paused` },
  );

/** A submission is rejected for ten seconds, while another run is in progress and more arrive. */
async function refusedSubmission() {
  const underWay = await submit('bfl/flux-2-pro', '[[sim:takes=1500]] under way');
  await waitFor(async () => (await arrivals('/bfl/', 'POST')).length === 1, {
    withinMs: 30_000,
    what: 'the first submission',
  });
  const refused = await submit('bfl/flux-2-pro', '[[sim:429=1]][[sim:retry_after=10]] refused');
  const pause = await paused('bfl', 'submit');
  const goingOn = [underWay, await submit('openai/gpt-image-2', 'another provider')];
  const waiting = await Promise.all(crowd.map((each) => submit('bfl/flux-2-pro', `waits ${each}`)));
  await completed([...goingOn, refused, ...waiting]);
  const ended = await system.sql<{ at: Date }>('SELECT completed_at AS at FROM run WHERE id = ANY($1)', [
    goingOn.map(({ requestId }) => requestId),
  ]);
  return { pause, ended, arrived: await arrivals('/bfl/', 'POST') };
}

/**
 * A poll is rejected for ten seconds, while another run of that provider is in progress and a new one
 * arrives.
 */
async function refusedPoll() {
  const runs = [
    await submit('fal/flux-dev', '[[sim:takes=600]][[sim:poll_429=1]][[sim:retry_after=10]] refused'),
    await submit('fal/flux-dev', '[[sim:takes=600]] under way'),
  ];
  const pause = await paused('fal', 'poll');
  runs.push(await submit('fal/flux-dev', 'new'));
  await waitFor(async () => (await arrivals('/fal/', 'POST')).length === 3, {
    withinMs: 30_000,
    what: 'the submission of the new run',
  });
  await completed(runs);
  const [submittedAtMs = Infinity] = (await arrivals('/fal/', 'POST')).slice(2);
  return { pause, submittedAtMs, polls: await arrivals('/fal/', 'GET') };
}

/** A provider that requests a pause longer than the runs' time budget. */
async function refusedBeyondTheBudget() {
  const key = { 'idempotency-key': 'hasty' };
  const refused = await submit('luma/hasty', '[[sim:429]][[sim:retry_after=50]] refused', key);
  const pause = await paused('luma', 'submit');
  const runs = [refused, await submit('luma/hasty', 'never sent')];
  await completed(runs);
  const answers = await Promise.all(runs.map((run) => caller.collect(run)));
  const ended = await system.sql<{ from: Date; at: Date }>(
    'SELECT greatest(admitted_at, $2) AS from, completed_at AS at FROM run WHERE id = ANY($1)',
    [runs.map(({ requestId }) => requestId), pause.since],
  );
  const [shortened] = await system.sql<{ fresh: boolean }>(
    `SELECT pause_provider('luma', 'submit', 'partner', interval '1 second', 'shorter') AS fresh`,
  );
  const stillPaused = await paused('luma', 'submit');
  const asGauge = { provider: 'luma', calls: 'submit', asked_by: 'provider' };
  await Promise.all(
    system.workers.map((worker) =>
      waitFor(async () => (await metric(worker, 'router_provider_paused', asGauge)) === 1, {
        withinMs: 30_000,
        what: 'the gauge on every worker',
      }),
    ),
  );
  const listed = await admin<Listed>('list');
  await admin('resume', 'luma');
  const again = await submit('luma/hasty', 'the key is free', key);
  await caller.completed(again);
  return {
    pause,
    ended,
    shortened,
    stillPaused,
    listed,
    answers,
    refused,
    again,
    arrived: await arrivals('/luma/', 'POST'),
  };
}

describe('a provider that sends Retry-After', () => {
  let stories: {
    submission: ReturnType<typeof refusedSubmission>;
    poll: ReturnType<typeof refusedPoll>;
    budget: ReturnType<typeof refusedBeyondTheBudget>;
  };

  beforeAll(async () => {
    const folder = temporaryFolder('catalog');
    writeFileSync(path.join(folder, 'hasty.yaml'), hasty);
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      workers: 2,
      takesMs: 50,
      env: {
        CATALOG_DIR: folder,
        PROVIDER_POLL_TIMEOUT_MS: '1000',
        ASSET_MEDIA_TYPES: 'no/media',
      },
    });
    caller = await system.caller({ inflightLimit: 100 });
    stories = { submission: refusedSubmission(), poll: refusedPoll(), budget: refusedBeyondTheBudget() };
    await Promise.allSettled(Object.values(stories));
  });
  afterAll(() => system.stop());

  it('gets no submission from any worker until then, and other providers are not affected', async () => {
    const { pause, ended, arrived } = await stories.submission;
    expect(pause.until.getTime() - pause.since.getTime()).toBe(askedMs);
    for (const { at } of ended) expect(at.getTime()).toBeLessThan(pause.until.getTime());
    const [, refusedAtMs = 0, ...later] = arrived;
    expect(later).toHaveLength(1 + crowd.length);
    expect(Math.min(...later) - refusedAtMs).toBeGreaterThanOrEqual(askedMs);
  });

  it('gets the waiting runs one after the other, not at once', async () => {
    const { pause, arrived } = await stories.submission;
    const later = arrived.slice(2).map((atMs) => atMs - pause.until.getTime());
    expect(Math.max(...later) - Math.min(...later)).toBeGreaterThan(askedMs / 5);
    expect(Math.max(...later)).toBeLessThan(askedMs / 2 + 6_000);
  });

  it('keeps its pause when a shorter one is requested', async () => {
    const { pause, stillPaused, shortened } = await stories.budget;
    expect(shortened).toEqual({ fresh: false });
    expect(stillPaused).toEqual(pause);
  });

  it('is listed as paused, distinct from an operator’s pause', async () => {
    const { listed } = await stories.budget;
    expect(listed.providers.find(({ provider }) => provider === 'luma')).toMatchObject({
      pauses: [
        {
          calls: 'submit',
          asked_by: 'provider',
          until: expect.stringMatching(/Z$/),
          reason: 'submit answered HTTP 429, asked for 50 s',
        },
      ],
    });
  });

  it('gets no poll after rejecting a poll, but still gets submissions', async () => {
    const { pause, submittedAtMs, polls } = await stories.poll;
    expect(submittedAtMs).toBeLessThan(pause.until.getTime());
    // A poll that began before the pause may arrive slightly after it.
    const quiet = polls.filter(
      (atMs) => atMs > pause.since.getTime() + 3000 && atMs < pause.until.getTime() - 100,
    );
    expect(quiet).toEqual([]);
  });

  it('ends its runs with their time budget, sent or not, and frees their keys', async () => {
    const { ended, answers, refused, again, arrived } = await stories.budget;
    expect(answers.map(({ status, bucket }) => [status, bucket])).toEqual([
      [503, 'service_unavailable'],
      [503, 'service_unavailable'],
    ]);
    for (const { from, at } of ended) expect(at.getTime()).toBeLessThan(from.getTime() + 10_000);
    expect(again.requestId).not.toBe(refused.requestId);
    // The rejected submission and, after the operator resumed the provider, the last run's.
    expect(arrived).toHaveLength(2);
  });

  it('keeps every invariant', async () => {
    await holdToInvariants(system);
    expect(await system.provider.ledger()).toHaveLength(2 + crowd.length + 1 + 3 + 1);
  });
});

failOnLeftovers();
