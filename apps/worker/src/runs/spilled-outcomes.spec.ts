import { Metrics } from '#observability';
import { expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type HeldOutcome, HeldOutcomes } from './held-outcomes.js';
import type { OngoingRun } from './ongoing-run.js';
import type { Outcomes } from './outcomes.js';
import { SpilledOutcomes } from './spilled-outcomes.js';

const secret = 'a secret of at least 32 characters';
const run = { runId: 'run', epoch: 3, provider: 'bfl', facts: { budgetMs: 5 } } as unknown as OngoingRun;
const outcomes: HeldOutcome[] = [
  { kind: 'handle', run, handle: { v: 1, step: 'poll', id: 'at-the-provider' }, afterMs: 5 },
  { kind: 'output', run, result: { output: { mediaType: 'image/png', body: Buffer.from([1, 2, 255]) } } },
  { kind: 'ending', run, ending: { outcome: 'cancelled' }, note: 'a note' },
  { kind: 'postponed', run, afterMs: 7 },
  { kind: 'fallback', run },
];

function worker(folder: string | undefined, secrets = [secret], save = async (): Promise<void> => {}) {
  const held = new HeldOutcomes(new Metrics());
  const saved: HeldOutcome[] = [];
  const said: [level: string, facts: Record<string, unknown>, message: string][] = [];
  const say = (level: string) => (facts: Record<string, unknown>, message: string) =>
    void said.push([level, facts, message]);
  const spilled = new SpilledOutcomes(
    held,
    {
      save: async (outcome: HeldOutcome) => {
        await save();
        saved.push(outcome);
      },
    } as unknown as Outcomes,
    { SPILL_DIR: folder, SIGNING_SECRET: secrets },
    { info: say('info'), warn: say('warn'), error: say('error') } as never,
  );
  const stopHolding = async (of: readonly HeldOutcome[]) => {
    for (const outcome of of) void held.hold(outcome, () => new Promise(() => {}));
    await spilled.beforeApplicationShutdown();
  };
  return { spilled, saved, said, stopHolding };
}

function withFolder(test: (folder: string) => Promise<void>) {
  return async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'spill-'));
    try {
      await test(path.join(folder, 'inside'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

it(
  'what a stopping worker holds is saved by the next one, also with a new secret, and the file is deleted',
  withFolder(async (folder) => {
    await worker(folder).stopHolding(outcomes);
    const [file = ''] = readdirSync(folder);
    expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(path.join(folder, file)).includes('at-the-provider')).toBe(false);
    const next = worker(folder, ['the new secret of at least 32 characters', secret]);
    await next.spilled.restore();
    expect(next.saved).toEqual(outcomes);
    expect(readdirSync(folder)).toEqual([]);
  }),
);

it(
  'a worker that holds nothing leaves no file, and one without a folder starts',
  withFolder(async (folder) => {
    const { spilled, said, stopHolding } = worker(folder);
    await spilled.restore();
    await stopHolding([]);
    await worker(undefined).spilled.restore();
    expect([said, () => readdirSync(folder)]).toEqual([[], expect.any(Function)]);
    expect(() => readdirSync(folder)).toThrow('ENOENT');
  }),
);

it(
  'a damaged or foreign file is set aside with a log line, and the others are saved',
  withFolder(async (folder) => {
    await worker(folder).stopHolding(outcomes);
    await worker(folder, ['another secret of at least 32 characters']).stopHolding(outcomes);
    writeFileSync(path.join(folder, 'damaged.outcomes'), 'damaged');
    writeFileSync(path.join(folder, 'unfinished.outcomes.part'), '');
    const next = worker(folder);
    await next.spilled.restore();
    expect(next.saved).toEqual(outcomes);
    expect(next.said.map(([level]) => level).toSorted()).toEqual(['error', 'error', 'info']);
    expect(next.said.find(([level]) => level === 'error')?.[2]).toContain('SIGNING_SECRET');
    expect(readdirSync(folder).filter((name) => name.endsWith('.outcomes'))).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.unreadable'))).toHaveLength(2);
    await next.spilled.restore();
    expect(next.saved).toHaveLength(outcomes.length);
  }),
);

it(
  'a file of which an outcome cannot be saved is kept aside',
  withFolder(async (folder) => {
    await worker(folder).stopHolding(outcomes);
    let count = 0;
    const next = worker(folder, [secret], async () => {
      count += 1;
      if (count === 2) throw new Error('a bug');
    });
    await next.spilled.restore();
    expect(next.saved).toHaveLength(outcomes.length - 1);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.outcomes\.failed$/)]);
  }),
);

it(
  'without a usable folder, the log names each run and the handle of its submission',
  withFolder(async (folder) => {
    writeFileSync(folder, 'a file in its place');
    for (const each of [undefined, folder]) {
      const { said, stopHolding } = worker(each);
      await stopHolding(outcomes.slice(0, 2));
      expect(said.map(([level, facts]) => [level, facts['run_id'], facts['handle']])).toEqual([
        ['error', 'run', { v: 1, step: 'poll', id: 'at-the-provider' }],
        ['error', 'run', undefined],
      ]);
    }
  }),
);
