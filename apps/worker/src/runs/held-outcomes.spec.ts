import { Metrics } from '#observability';
import { expect, it } from '@jest/globals';
import { type HeldOutcome, HeldOutcomes, maxHeld } from './held-outcomes.js';
import type { OngoingRun } from './ongoing-run.js';

const run = { runId: 'run', epoch: 1 } as OngoingRun;
const handle = (): HeldOutcome => ({ kind: 'handle', run, handle: { v: 1, step: 'poll' }, afterMs: 0 });
const output = (bytes: number): HeldOutcome => ({
  kind: 'output',
  run,
  result: { output: { mediaType: 'text/plain', body: Buffer.alloc(bytes) } },
});

/** Holds outcomes until the returned functions are called, and records each change of `isFull`. */
function holder() {
  const metrics = new Metrics();
  const held = new HeldOutcomes(metrics);
  const changes: boolean[] = [];
  held.onChange = () => changes.push(held.isFull);
  const hold = (outcome: HeldOutcome) => {
    let settle: ((error?: Error) => void) | undefined;
    const saving = new Promise<string>((resolve, reject) => {
      settle = (error) => (error ? reject(error) : resolve('saved'));
    });
    const saved = held.hold(outcome, () => saving);
    return async (error?: Error) => {
      settle?.(error);
      return saved.catch((failure: unknown) => failure);
    };
  };
  const unsaved = async () =>
    (await metrics.registry.getSingleMetric('router_unsaved_outcomes')?.get())?.values;
  return { held, hold, changes, unsaved };
}

it('holds an outcome until it is saved or refused, and counts it', async () => {
  const { held, hold, unsaved } = holder();
  const [first, second] = [handle(), output(5)];
  const saves = [hold(first), hold(second)];
  expect(held.list()).toEqual([first, second]);
  expect(await unsaved()).toMatchObject([{ value: 2 }]);
  expect(await saves[0]?.()).toBe('saved');
  const bug = new Error('a bug');
  expect(await saves[1]?.(bug)).toBe(bug);
  expect(held.list()).toEqual([]);
  expect(await unsaved()).toMatchObject([{ value: 0 }]);
});

it.each([
  ['outcomes', maxHeld.outcomes, handle],
  ['bytes', 16, () => output(maxHeld.bytes / 16)],
])('is full at its bound of %s, until half of them are saved', async (_what, count, outcome) => {
  const { held, hold, changes } = holder();
  const saves = Array.from({ length: count - 1 }, () => hold(outcome()));
  expect(held.isFull).toBe(false);
  saves.push(hold(outcome()));
  expect([held.isFull, changes]).toEqual([true, [true]]);
  for (const save of saves.splice(0, count / 2)) await save();
  expect(held.isFull).toBe(true);
  await saves.pop()?.();
  expect([held.isFull, changes]).toEqual([false, [true, false]]);
  for (const save of saves) await save();
  expect(changes).toEqual([true, false]);
});
