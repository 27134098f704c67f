import { expect } from '@jest/globals';
import * as fc from 'fast-check';
import { type Command, commands, starts } from './commands.js';
import { type Answer, Model, type ModelRun } from './model.js';
import { type Real, type Store, unitMicros } from './real.js';

/**
 * Runs random commands on workspaces one by one, and expects each answer and state to match the model. Returns
 * how often each kind of answer occurred.
 */
export async function expectModelsAnswers(
  store: Store,
  { seed, runs }: { seed: number; runs: number },
): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(starts, commands(60), async (start, sequence) => {
      const [real] = await store.workspace(start);
      if (!real) throw new Error('no workspace');
      const model = new Model({ ...start });
      for (const command of sequence) {
        const run = 'pick' in command ? model.chosen(command.pick) : undefined;
        if (!isPossible(command, run)) continue;
        const expected = model.apply(command);
        expect(await applyToReal(store, real, command, run)).toEqual(expected);
        expect(await stateOf(store, real)).toEqual(stateOfModel(model));
        note(seen, command, expected);
      }
      expect(await real.outbox.drift()).toEqual([]);
    }),
    { seed, numRuns: runs, endOnFailure: true },
  );
  return seen;
}

/** A set of sequences that never reaches one of these would prove nothing about its rule. */
export const rareAnswers = [
  'admit refused backlog',
  'admit refused ceiling',
  'admit refused credits',
  'admit refused inflight',
  'admit refused spend',
  'admit existing',
  'take taken',
  'take none',
  'sweep lapsed',
  'sweep abandoned',
  'resume true',
  'cancel dispatched',
  'leave withdrawn',
  'leave going_on',
  'finish granted',
  'limits granted',
];

/** A claimant's steps need a claim, and only a submitted run has a handle. */
function isPossible(command: Command, run: ModelRun | undefined): boolean {
  if (!('pick' in command)) return true;
  if (!run) return false;
  switch (command.verb) {
    case 'begin':
    case 'postpone':
    case 'finish':
      return run.epoch > 0;
    case 'save':
      return run.epoch > 0 && (run.sent || run.stage === 'completed');
    default:
      return true;
  }
}

/** Applies the command, and answers in the model's words. */
async function applyToReal(
  store: Store,
  real: Real,
  command: Command,
  run: ModelRun | undefined,
): Promise<Answer> {
  if (command.verb === 'admit') {
    const admitted = await real.admit(command);
    if (admitted.kind === 'refused') return { kind: 'refused', limit: admitted.limit };
    const run = real.runIds.indexOf(admitted.runId);
    if (admitted.kind === 'existing') return { kind: 'existing', run, matches: admitted.matches };
    return { kind: 'admitted', run, ready: admitted.ready, position: admitted.position };
  }
  if (command.verb === 'limits') return { granted: real.places(await store.setLimits(real, command)) };
  if (command.verb === 'take') {
    const [taken] = await real.take();
    if (!taken) return { kind: 'none' };
    const { runId, epoch, crashes } = taken;
    return { kind: 'taken', run: real.runIds.indexOf(runId), epoch, crashes };
  }
  if (command.verb === 'sweep') {
    const swept = (await real.sweep()).map(({ kind, runId, epoch }) => ({
      kind,
      run: real.runIds.indexOf(runId),
      epoch,
    }));
    return { swept: swept.toSorted((one, other) => one.run - other.run) };
  }
  if (command.verb === 'pause') return { won: await real.pause() };
  if (command.verb === 'resume') return { won: await real.resume() };
  const runId = real.runIds[run?.place ?? 0] ?? '';
  const epoch = (run?.epoch ?? 0) - ('stale' in command && command.stale ? 1 : 0);
  switch (command.verb) {
    case 'begin':
      return { won: await real.begin(runId, epoch) };
    case 'save': {
      const saved = await real.save(runId, epoch);
      return saved ? { won: true, cancelAsked: saved.cancelRequested } : { won: false };
    }
    case 'postpone':
      return { won: await real.postpone(runId, epoch, command.later ? 60_000 : 0) };
    case 'finish': {
      const { won, granted } = await real.finish(runId, epoch, command.ending);
      return { won, granted: real.places(granted) };
    }
    case 'cancel': {
      const answer = await real.cancel(runId);
      return { found: answer.found, granted: real.places(answer.granted) };
    }
    case 'leave': {
      const left = await real.leave(runId, command.disconnected);
      const answer = { found: left.found, granted: real.places(left.granted) };
      return left.found === 'going_on' ? { ...answer, hasHandle: left.pollAfterMs !== null } : answer;
    }
    case 'expire':
      await real.expire(runId);
      return {};
  }
}

/** The state that the rules mention, in units of the model. */
async function stateOf(store: Store, real: Real): Promise<unknown> {
  const [row] = await store.sql<{ state: Record<string, unknown> }>(
    `SELECT jsonb_build_object(
       'inflight', inflight, 'committed', committed_micros / $2, 'held', held_micros / $2, 'backlog', backlog,
       'balance', balance_micros / $2,
       'ledger', (SELECT coalesce(-sum(amount_micros), 0)::bigint / $2 FROM ledger_entry WHERE workspace_id = $1),
       'audited', (SELECT count(*) FROM audit_record WHERE workspace_id = $1),
       'keys', (SELECT coalesce(jsonb_object_agg(key, run_id), '{}') FROM idempotency_key WHERE workspace_id = $1),
       'runs', (SELECT coalesce(jsonb_object_agg(id, jsonb_build_array(stage, outcome, epoch, coalesce(billed_micros, 0) / $2,
           CASE WHEN stage IN ('parked', 'ready') THEN waiting_ahead(run.workspace_id, place) END,
           crashes, coalesce(waiting, false), coalesce(dispatched, true))), '{}')
         FROM run LEFT JOIN outbox ON run_id = id WHERE run.workspace_id = $1)
     ) AS state FROM workspace WHERE id = $1`,
    [real.workspaceId, unitMicros],
  );
  const state = row?.state as { keys: Record<string, string>; runs: Record<string, unknown> };
  return {
    ...state,
    keys: Object.fromEntries(Object.entries(state.keys).map(([key, id]) => [key, real.runIds.indexOf(id)])),
    runs: real.runIds.map((id) => state.runs[id]),
  };
}

function stateOfModel(model: Model): unknown {
  return {
    inflight: model.inflight,
    committed: model.committed,
    held: model.held,
    backlog: model.backlog,
    balance: model.balance,
    ledger: model.billed,
    audited: model.runs.filter((run) => run.outcome !== null).length,
    keys: Object.fromEntries([...model.keys].map(([key, { run }]) => [`key-${key}`, run])),
    runs: model.runs.map((run) => {
      const row = run.outcome === null ? [run.waiting, run.dispatched] : [false, true];
      return [run.stage, run.outcome, run.epoch, run.billed, model.position(run), run.crashes, ...row];
    }),
  };
}

function note(seen: Map<string, number>, { verb }: Command, answer: Answer): void {
  const granted = answer['granted'];
  const { kind, found, won, limit } = answer;
  const words = [verb, kind ?? found ?? won, limit].filter((word) => word !== undefined);
  const names = [words.map(String).join(' ')];
  const swept = answer['swept'];
  if (Array.isArray(swept)) names.push(...swept.map((each: Answer) => `${verb} ${String(each['kind'])}`));
  if (Array.isArray(granted) && granted.length > 0) names.push(`${verb} granted`);
  for (const name of names) seen.set(name, (seen.get(name) ?? 0) + 1);
}
