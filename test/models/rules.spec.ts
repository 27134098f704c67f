import { describe } from '@jest/globals';
import { modelCases } from './cases.js';
import { seedOr } from './replay.js';

describe('the life of runs in Postgres', () => {
  // The same few sequences each time, which cover all rules. The fault tests try many others.
  modelCases({ seed: seedOr(891), stepByStep: 40, allAtOnce: 20 });
});
