import { expect } from '@jest/globals';
import * as fc from 'fast-check';
import { type Command, commands, type EndingKind, starts } from './commands.js';
import { type Real, type Store, unitMicros } from './real.js';

/** The number of processes that the store simulates. */
export const processes = 3;
const lanesEach = 3;

/** Everything that the sequences of one workspace did together. */
interface Tally {
  runs: string[];
  /** How often each run was reported as finished. */
  endings: Map<string, number>;
  granted: string[];
  /** Each claim that was granted, by run and epoch. */
  claims: string[];
  highest: { inflight: number; committed: number };
}

/**
 * Runs random commands on workspaces from all processes at once, and expects every invariant to hold at the end.
 * Returns the number of runs.
 */
export async function expectInvariants(
  store: Store,
  { seed, runs }: { seed: number; runs: number },
): Promise<number> {
  let admitted = 0;
  const sequencesOf = fc.array(commands(40), {
    minLength: processes * lanesEach,
    maxLength: processes * lanesEach,
  });
  await fc.assert(
    fc.asyncProperty(starts, sequencesOf, async (start, sequences) => {
      const views = await store.workspace(start);
      const { inflight, committed } = start;
      const tally: Tally = {
        runs: [],
        endings: new Map(),
        granted: [],
        claims: [],
        highest: { inflight, committed },
      };
      const play = (sequence: Command[], index: number) =>
        runLane(store, viewAt(views, index), sequence, tally);
      await Promise.all(sequences.map(play));
      await settle(store, views, tally);
      expect(await brokenRules(store, viewAt(views, 0), tally)).toEqual([]);
      admitted += tally.runs.length;
    }),
    { seed, numRuns: runs, endOnFailure: true },
  );
  return admitted;
}

const viewAt = (views: readonly Real[], index: number): Real => views[index % views.length] as Real;

/**
 * One caller or worker. It uses its claim on a run until it claims that run again, even if the claim was lost.
 */
async function runLane(store: Store, real: Real, sequence: Command[], tally: Tally): Promise<void> {
  const epochs = new Map<string, number>();
  for (const command of sequence) {
    if (command.verb === 'admit') {
      const answer = await real.admit(command);
      if (answer.kind === 'admitted') tally.runs.push(answer.runId);
    } else if (command.verb === 'limits') {
      tally.highest.inflight = Math.max(tally.highest.inflight, command.inflight);
      tally.highest.committed = Math.max(tally.highest.committed, command.committed);
      note(tally, await store.setLimits(real, command));
    } else if (command.verb === 'take') {
      for (const { runId, epoch } of await real.take(2)) {
        tally.claims.push(`${runId} ${epoch}`);
        epochs.set(runId, epoch);
      }
    } else if (command.verb === 'sweep') {
      await sweep(real, 'provider_failed', tally);
    } else if (command.verb === 'pause' || command.verb === 'resume') {
      await real[command.verb]();
    } else {
      const recent = ('stale' in command ? [...epochs.keys()] : tally.runs).slice(-6);
      const runId = recent[command.pick % recent.length];
      if (runId !== undefined) await takeStep(real, command, runId, epochs, tally);
    }
  }
}

type Step = Extract<Command, { pick: number }>;

async function takeStep(
  real: Real,
  command: Step,
  runId: string,
  epochs: Map<string, number>,
  tally: Tally,
): Promise<void> {
  const epoch = epochs.get(runId);
  switch (command.verb) {
    case 'cancel': {
      const answer = await real.cancel(runId);
      if (answer.found === 'waiting') noteEnding(tally, runId);
      note(tally, answer.granted);
      return;
    }
    case 'leave': {
      const left = await real.leave(runId, command.disconnected);
      if (left.found === 'withdrawn') noteEnding(tally, runId);
      note(tally, left.granted);
      return;
    }
    case 'expire':
      return real.expire(runId);
    default:
      if (epoch !== undefined) await useClaim(real, command, runId, epoch, tally);
  }
}

/** Acts like a worker: a begun submission ends in a handle, a rejection or an outcome. */
async function useClaim(
  real: Real,
  command: Extract<Step, { verb: 'begin' | 'save' | 'postpone' | 'finish' }>,
  runId: string,
  epoch: number,
  tally: Tally,
): Promise<void> {
  if (command.verb === 'finish') return end(real, runId, epoch, command.ending, tally);
  if (command.verb === 'postpone') {
    await real.postpone(runId, epoch, command.later ? 60_000 : 0);
    return;
  }
  if (command.verb === 'begin' && (await real.begin(runId, epoch))) await real.save(runId, epoch);
}

/** Ends the runs whose submission has an unknown outcome. */
async function sweep(real: Real, ending: EndingKind, tally: Tally): Promise<void> {
  for (const { kind, runId, epoch } of await real.sweep()) {
    if (kind === 'lapsed') continue;
    tally.claims.push(`${runId} ${epoch}`);
    await end(real, runId, epoch, ending, tally);
  }
}

async function end(real: Real, runId: string, epoch: number, kind: EndingKind, tally: Tally): Promise<void> {
  const { won, granted } = await real.finish(runId, epoch, kind);
  if (won) noteEnding(tally, runId);
  note(tally, granted);
}

/** Takes every run to its outcome, with limits high enough for all. */
async function settle(store: Store, views: readonly Real[], tally: Tally): Promise<void> {
  await viewAt(views, 0).resume();
  for (let round = 0; round < 1_000; round += 1) {
    const live = await store.sql<{ id: string; stage: string; epoch: number }>(
      `SELECT id, stage, epoch FROM run WHERE workspace_id = $1 AND stage <> 'completed'`,
      [viewAt(views, 0).workspaceId],
    );
    if (live.length === 0) return;
    expect(await wrongPlaces(store, viewAt(views, 0))).toEqual([]);
    if (live.every((run) => run.stage === 'parked')) {
      tally.highest.inflight = Math.max(tally.highest.inflight, 1);
      tally.highest.committed = Math.max(tally.highest.committed, 12);
      note(tally, await store.setLimits(viewAt(views, 0), { inflight: 1, committed: 12, backlog: 5 }));
      continue;
    }
    await Promise.all(
      live.map(async ({ id, stage, epoch }, index) => {
        const real = viewAt(views, index);
        if (stage === 'running') return end(real, id, epoch, 'succeeded', tally);
        await real.expire(id);
      }),
    );
    await Promise.all(
      views.map(async (real) => {
        await sweep(real, 'succeeded', tally);
        for (const { runId, epoch } of await real.take(3)) {
          tally.claims.push(`${runId} ${epoch}`);
          await end(real, runId, epoch, 'succeeded', tally);
        }
      }),
    );
  }
  throw new Error('not all runs reach their outcome');
}

/** Runs whose queue position differs from the number of rows ahead of theirs. */
const wrongPlaces = (store: Store, real: Real): Promise<unknown[]> =>
  store.sql(
    `SELECT mine.run_id, place, waiting_ahead(workspace_id, place) AS said, rows.ahead FROM outbox AS mine
     CROSS JOIN LATERAL (SELECT count(*)::integer AS ahead FROM outbox AS other
       WHERE other.workspace_id = mine.workspace_id AND NOT other.dispatched AND other.place < mine.place) AS rows
     WHERE workspace_id = $1 AND NOT dispatched AND waiting_ahead(workspace_id, place) <> rows.ahead`,
    [real.workspaceId],
  );

const note = (tally: Tally, granted: readonly { runId: string }[]): void =>
  void tally.granted.push(...granted.map(({ runId }) => runId));

const noteEnding = (tally: Tally, runId: string): void =>
  void tally.endings.set(runId, (tally.endings.get(runId) ?? 0) + 1);

async function brokenRules(store: Store, real: Real, tally: Tally): Promise<string[]> {
  const [facts] = await store.sql<Record<string, number>>(
    `SELECT inflight_peak AS "inflightPeak", committed_peak_micros::float AS "committedPeak",
       (SELECT count(*)::integer FROM run WHERE workspace_id = $1) AS runs,
       (SELECT count(*)::integer FROM audit_record WHERE workspace_id = $1) AS audited,
       (SELECT count(*)::integer FROM outbox WHERE workspace_id = $1) AS deliveries,
       (SELECT coalesce(-sum(amount_micros), 0)::float FROM ledger_entry WHERE workspace_id = $1) AS ledger,
       (SELECT coalesce(sum(billed_micros), 0)::float FROM run WHERE workspace_id = $1) AS billed,
       (SELECT count(*)::integer FROM run AS one JOIN run AS other ON other.workspace_id = one.workspace_id
          AND other.mode = 'queued' AND one.granted_at < other.granted_at AND one.admitted_at > other.admitted_at
        WHERE one.workspace_id = $1 AND one.mode = 'queued') AS overtaken,
       (SELECT count(*)::integer FROM (SELECT 1 FROM run WHERE workspace_id = $1 AND sent_at IS NOT NULL
          AND bucket IS DISTINCT FROM 'service_unavailable' AND call ->> 'idempotencyKey' IS NOT NULL GROUP BY call ->> 'idempotencyKey' HAVING count(*) > 1) AS twice) AS "boughtTwice"
     FROM workspace WHERE id = $1`,
    [real.workspaceId],
  );
  const { highest, runs, endings, granted } = tally;
  const rules: [string, boolean][] = [
    ['every admitted run exists', facts?.['runs'] === runs.length],
    ['one audit record a run', facts?.['audited'] === runs.length],
    ['no outbox row is left', facts?.['deliveries'] === 0],
    ['the ledger equals the billed amount', facts?.['ledger'] === facts?.['billed']],
    ['in flight within its limit', Number(facts?.['inflightPeak']) <= highest.inflight],
    ['committed within its limit', Number(facts?.['committedPeak']) <= highest.committed * unitMicros],
    ['slots in the order of admission', facts?.['overtaken'] === 0],
    // A run that ended as unavailable freed its key, because its caller is told to retry.
    ['one purchase a key', facts?.['boughtTwice'] === 0],
    ['one ending a run', endings.size === runs.length && [...endings.values()].every((times) => times === 1)],
    ['each claim granted once', new Set(tally.claims).size === tally.claims.length],
    ['each slot grant reported once', new Set(granted).size === granted.length],
    ['no counter drifts', (await real.outbox.drift()).length === 0],
  ];
  return rules.filter(([, holds]) => !holds).map(([rule]) => `${rule}: ${JSON.stringify(facts)}`);
}
