import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../harness/index.js';
import { expectInvariants, processes } from './all-at-once.js';
import { Store } from './real.js';
import { seedOr } from './replay.js';
import { expectModelsAnswers, rareAnswers } from './step-by-step.js';

// The same sequences each time, few of them, and all rules in them. The fault tests try many others.
const seed = seedOr(891);

describe('the life of runs in Postgres', () => {
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

  it('is the one of the model, step by step', async () => {
    const seen = await expectModelsAnswers(store, { seed, runs: 30 });
    expect(rareAnswers.filter((rare) => !seen.has(rare))).toEqual([]);
  });

  it('keeps every invariant, all at once from several processes', async () => {
    const runs = 20;
    expect(await expectInvariants(store, { seed, runs })).toBeGreaterThan(runs);
  });
});

failOnLeftovers();
