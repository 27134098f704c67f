import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../harness/index.js';
import { expectInvariants, processes } from './all-at-once.js';
import { Store } from './real.js';
import { expectModelsAnswers, rareAnswers } from './step-by-step.js';

interface Sequences {
  seed: number;
  /** How many there are of one process, and how many of several at once. */
  stepByStep: number;
  allAtOnce: number;
  timeoutMs?: number;
}

/** The cases that hold the verbs in Postgres against the model, over random sequences of commands. */
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
    'is the one of the model, step by step',
    async () => {
      const seen = await expectModelsAnswers(store, { seed, runs: stepByStep });
      expect(rareAnswers.filter((rare) => !seen.has(rare))).toEqual([]);
    },
    timeoutMs,
  );

  it(
    'keeps every invariant, all at once from several processes',
    async () => {
      expect(await expectInvariants(store, { seed, runs: allAtOnce })).toBeGreaterThan(allAtOnce);
    },
    timeoutMs,
  );
}
