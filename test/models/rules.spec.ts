import { describe } from '@jest/globals';
import { modelCases } from './cases.js';
import { seedOr } from './replay.js';

describe('the life of runs in Postgres', () => {
  // The same sequences each time, few of them, and all rules in them. The fault tests try many others.
  modelCases({ seed: seedOr(891), stepByStep: 40, allAtOnce: 20 });
});
