import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../harness/index.js';
import { expectInvariants, processes } from './all-at-once.js';
import { Store } from './real.js';
import { expectModelsAnswers, rareAnswers } from './step-by-step.js';

interface Sequences {
  seed: number;
  /** The number of sequences that run alone, and of those that run at once in several processes. */
  stepByStep: number;
  allAtOnce: number;
  timeoutMs?: number;
}

/** The cases that compare the verbs in Postgres with the model, over random sequences of commands. */
export function modelCases({ seed, stepByStep, allAtOnce, timeoutMs }: Sequences): void {
  let testDatabase: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    testDatabase = await createDatabase();
    store = await Store.open(testDatabase.url, processes);
  });
  afterAll(async () => {
    await store.close();
    await testDatabase.drop();
  });
  failOnLeftovers();

  it(
    'matches the model, step by step',
    async () => {
      const seen = await expectModelsAnswers(store, { seed, runs: stepByStep });
      expect(rareAnswers.filter((rare) => !seen.has(rare))).toEqual([]);
    },
    timeoutMs,
  );

  it(
    'keeps every invariant when several processes run at once',
    async () => {
      expect(await expectInvariants(store, { seed, runs: allAtOnce })).toBeGreaterThan(allAtOnce);
    },
    timeoutMs,
  );
}
