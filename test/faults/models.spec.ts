import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../harness/index.js';
import { expectInvariants, processes } from '../models/all-at-once.js';
import { Store } from '../models/real.js';
import { randomSeed, seedOr } from '../models/replay.js';
import { expectModelsAnswers, rareAnswers } from '../models/step-by-step.js';

// New sequences each time, and many: what nobody has thought of yet. A failure is found again by its seed.
const seed = seedOr(randomSeed());

describe(`the life of runs in Postgres (MODEL_SEED=${seed})`, () => {
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
    const seen = await expectModelsAnswers(store, { seed, runs: 200 });
    expect(rareAnswers.filter((rare) => !seen.has(rare))).toEqual([]);
  }, 600_000);

  it('keeps every invariant, all at once from several processes', async () => {
    const runs = 150;
    expect(await expectInvariants(store, { seed, runs })).toBeGreaterThan(runs);
  }, 600_000);
});

failOnLeftovers();
